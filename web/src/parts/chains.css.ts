export const chainsStyles = `
.chains-legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 14px; }
.chains-legend svg { vertical-align: middle; }
.chains-charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(280px, 100%), 1fr)); gap: 16px; }
.chains-chart figcaption { display: grid; gap: 1px; }
.chains-chart svg { display: block; width: 100%; max-width: 460px; height: auto; }
.chains-axis { fill: none; stroke: var(--part-line); }
.chains-line { fill: none; stroke-width: 1.1; stroke-linejoin: round; opacity: 0.85; }
.chains-text { font-size: 10px; fill: currentColor; }
.chains-verdict::before { content: "●"; margin-right: 5px; }
.chains-good::before { color: #178a66; }
.chains-fair::before { content: "▲"; color: #c77700; }
.chains-poor::before { content: "■"; color: #d6453d; }
.chains-none::before { content: "○"; }
.chains-poor { font-weight: 600; }
`;
