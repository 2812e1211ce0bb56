import type { App, Part } from "../app";

/** The panel "draws", or null where the page has no data for it. */
export function drawsPart(_app: App): Part | null {
  return null;
}
