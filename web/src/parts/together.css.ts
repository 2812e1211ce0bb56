export const togetherStyles = `
.together-map { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px; }
.together-canvas { cursor: crosshair; }
.together-legend { max-width: 560px; font-size: 0.9em; display: grid; grid-template-columns: minmax(0, 1fr); gap: 2px; }
.together-scale { border: 1px solid var(--part-line); box-sizing: border-box; }
.together-ticks { display: flex; justify-content: space-between; font-variant-numeric: tabular-nums; }
.together-pointed { min-height: 2.9em; overflow-wrap: anywhere; }
`;
