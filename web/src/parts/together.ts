import type { App, Part } from "../app";

/** The panel "together", or null where the page has no data for it. */
export function togetherPart(_app: App): Part | null {
  return null;
}
