export const drawsStyles = `
.draws-rows { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px; }
.draws-label { display: flex; flex-wrap: wrap; gap: 6px; font-size: 0.9em; margin-bottom: 2px; }
.draws-canvas { cursor: pointer; }
.draws-play { min-width: 5em; }
.draws-sentence { font-weight: 600; font-variant-numeric: tabular-nums; min-height: 2.9em; }
.draws-pointed { min-height: 4.35em; overflow-wrap: anywhere; }
`;
