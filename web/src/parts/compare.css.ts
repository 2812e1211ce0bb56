export const compareStyles = `
/* Two trees need room: on a wide screen the panel takes half of it. */
@container (min-width: 1000px) {
  .page:has([role="tabpanel"]:not([hidden]) > .part-compare) { grid-template-columns: minmax(0, 1fr) 54%; }
}
.compare-picture { min-width: 0; }
.compare-svg { display: block; max-width: 100%; }
.compare-heading { font-size: 13px; font-weight: 600; fill: currentColor; }
.compare-label { font-size: 11px; pointer-events: none; }
.compare-box { stroke: var(--part-paper, Canvas); stroke-width: 1; }
.compare-box.compare-small { stroke: none; }
.compare-box.compare-unmatched:not(.compare-small) { stroke: currentColor; stroke-dasharray: 4 2; }
.compare-box.compare-chosen { stroke: currentColor; stroke-width: 2.5; stroke-dasharray: none; }
.compare-ribbon { opacity: 0.36; cursor: pointer; }
.compare-ribbon:hover { opacity: 0.65; }
.compare-moved { opacity: 0.9; stroke: currentColor; stroke-width: 0.8; }
.compare-moved.compare-thin { stroke: none; opacity: 1; }
.compare-moved:hover { opacity: 1; stroke-width: 1.6; }
.compare-ribbon.compare-chosen { opacity: 1; stroke: currentColor; stroke-width: 2; }
.compare-swatch { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 2px; }
.compare-moved-list { columns: 260px auto; display: block; }
.compare-moved-list li { break-inside: avoid; }
.compare-flows summary { cursor: pointer; font-weight: 600; min-height: 24px; }
`;
