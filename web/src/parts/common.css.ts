/** Styles that the panels on uncertainty and comparison share. Colours mix with the text's, so that both themes work. */
export const commonStyles = `
.part {
  --part-line: var(--line, currentColor);
  --part-soft: var(--quiet, currentColor);
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 10px;
  padding: 12px 14px 24px;
}
.part p, .part h3, .part ul, .part ol, .part figure { margin: 0; }
.part h3 { font-size: 1em; margin: 6px 0 4px; }
.part strong, .part td { unicode-bidi: isolate; }
.part-lead { display: grid; gap: 6px; }
.part-note { color: var(--part-soft); font-size: 0.9em; }
.part-controls { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; }
.part-field { display: inline-flex; gap: 6px; align-items: center; }
.part-wide { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 8px; }
.part-wide input { width: 100%; margin: 0; min-height: 24px; }
.part-list { padding-left: 1.4em; display: grid; gap: 3px; }
.part-list li { padding-left: 2px; overflow-wrap: anywhere; }
.part button.part-link {
  border: 0;
  background: none;
  padding: 2px 0;
  min-height: 24px;
  min-width: 24px;
  color: var(--strong, inherit);
  font: inherit;
  unicode-bidi: isolate;
  text-align: left;
  text-decoration: underline;
  text-underline-offset: 2px;
  text-decoration-thickness: 1px;
  overflow-wrap: anywhere;
  cursor: pointer;
}
.part button.part-link:hover { text-decoration-thickness: 2px; }
.part-scroll { overflow-x: auto; }
.part table { border-collapse: collapse; width: 100%; font-size: 0.92em; }
.part th, .part td { text-align: left; padding: 4px 8px 4px 0; border-bottom: 1px solid var(--part-line); vertical-align: top; overflow-wrap: anywhere; }
.part th { overflow-wrap: normal; font-weight: 600; }
.part .part-number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.part canvas { display: block; max-width: 100%; }
@media print {
  .part-controls, .part-wide, .draws-pointed, .together-pointed { display: none; }
}
`;
