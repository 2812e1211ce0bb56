import type { App, Part } from "../app";

/** The panel "chains", or null where the page has no data for it. */
export function chainsPart(_app: App): Part | null {
  return null;
}
