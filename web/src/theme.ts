/** Light or dark: what the reader chose, else what the reader's system says. */

import type { State } from "./app";

const DARK = "(prefers-color-scheme: dark)";

let printing = false;

export function isDark(theme: State["theme"]): boolean {
  if (printing) return false;
  return theme === "auto" ? window.matchMedia(DARK).matches : theme === "dark";
}

/** Calls back when the system's choice changes, and around printing, because paper is white. */
export function watchTheme(changed: () => void): () => void {
  const media = window.matchMedia(DARK);
  const print = (now: boolean) => () => {
    printing = now;
    changed();
  };
  const [begin, end] = [print(true), print(false)];
  media.addEventListener("change", changed);
  window.addEventListener("beforeprint", begin);
  window.addEventListener("afterprint", end);
  return () => {
    media.removeEventListener("change", changed);
    window.removeEventListener("beforeprint", begin);
    window.removeEventListener("afterprint", end);
  };
}
