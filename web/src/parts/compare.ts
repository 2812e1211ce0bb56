import type { App, Part } from "../app";

/** The panel "compare", or null where the page has no data for it. */
export function comparePart(_app: App): Part | null {
  return null;
}
