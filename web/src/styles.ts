/** Styles of the page. They go into the shadow root, so that the pages around a widget change nothing in it. */

const colours = `
:host { display: block; container-type: inline-size; --height: 640px; }
:host(.whole-page) { --height: 100dvh; }
.page {
  --paper: #ffffff; --back: #f4f5f7; --ink: #16191d; --quiet: #555c66; --line: #cfd4da; --strong: #0b5cad; --on-strong: #ffffff; --bar: #3f6f9f; --less: #a8571c;
  color-scheme: light;
}
.page[data-theme="dark"] {
  --paper: #12151a; --back: #1c2128; --ink: #eef1f4; --quiet: #a9b2bd; --line: #3a424d; --strong: #7dbbf5; --on-strong: #0b1117; --bar: #6fa3d4; --less: #dd9a62;
  color-scheme: dark;
}
`;

const frame = `
.page { box-sizing: border-box; height: var(--height); display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) clamp(320px, 34%, 480px); background: var(--paper); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; text-align: left; }
.page *, .page *::before { box-sizing: border-box; }
.page [hidden] { display: none !important; }
header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; padding: 8px 12px; border-bottom: 1px solid var(--line); background: var(--back); }
h1 { font-size: 17px; margin: 0; flex: 1 1 200px; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
h2 { font-size: 17px; margin: 0 0 8px; padding-left: 8px; border-left: 5px solid var(--line); overflow-wrap: anywhere; unicode-bidi: isolate; }
h3 { font-size: 14px; margin: 16px 0 4px; }
p { margin: 0 0 6px; overflow-wrap: anywhere; }
.main { display: flex; flex-direction: column; min-width: 0; min-height: 0; }
.side { display: flex; flex-direction: column; min-width: 0; min-height: 0; border-left: 1px solid var(--line); }
.bodies { overflow: auto; min-height: 0; flex: 1; position: relative; }
.panel { padding: 12px 14px 24px; }
.quiet { color: var(--quiet); font-size: 13px; }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

const controls = `
button, select, input { font: inherit; color: var(--ink); }
button, select, input[type="text"], input[type="search"], input[type="number"] { background: var(--paper); border: 1px solid var(--quiet); border-radius: 5px; padding: 3px 9px; min-height: 28px; }
button { cursor: pointer; white-space: nowrap; }
button:hover:not(:disabled) { border-color: var(--strong); color: var(--strong); }
button:disabled { opacity: .5; cursor: default; }
button[aria-pressed="true"] { background: var(--strong); color: var(--on-strong); border-color: var(--strong); }
input[type="range"] { accent-color: var(--strong); width: 110px; margin: 0; }
input[type="number"] { width: 68px; padding-right: 2px; }
input[type="text"] { width: 100%; margin: 2px 0 8px; }
:focus-visible { outline: 2px solid var(--strong); outline-offset: 2px; }
.controls { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; padding: 8px 12px 4px; }
.field { display: inline-flex; gap: 6px; align-items: center; white-space: nowrap; }
.field select { max-width: 190px; text-overflow: ellipsis; }
.buttons, .pair { display: inline-flex; gap: 6px; align-items: center; }
.search { position: relative; flex: 0 1 300px; min-width: 180px; }
.search input { width: 100%; }
.found { position: absolute; z-index: 5; top: 100%; right: 0; left: 0; min-width: min(340px, 92vw); max-height: 60vh; overflow: auto; margin-top: 3px; padding: 8px 10px; background: var(--paper); border: 1px solid var(--quiet); border-radius: 6px; box-shadow: 0 6px 22px rgba(0,0,0,.25); }
.keys { position: relative; }
.keys summary { cursor: pointer; padding: 3px 6px; }
.keys table { position: absolute; right: 0; z-index: 6; width: 260px; background: var(--paper); border: 1px solid var(--quiet); border-radius: 6px; padding: 6px; }
.breadcrumb ol { display: flex; flex-wrap: wrap; list-style: none; margin: 0; padding: 0 12px 4px; }
.breadcrumb li + li::before { content: "›"; color: var(--quiet); padding: 0 2px; }
.breadcrumb button { max-width: 220px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.breadcrumb [aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
button.plain { white-space: normal; border: 0; background: none; padding: 1px 4px; min-height: 24px; color: var(--strong); text-align: left; overflow-wrap: anywhere; unicode-bidi: isolate; }
button.plain:hover { text-decoration: underline; }
.tabs { display: flex; flex-wrap: wrap; gap: 2px; padding: 6px 8px 0; border-bottom: 1px solid var(--line); background: var(--back); }
.tabs button { border: 1px solid transparent; border-bottom: 0; border-radius: 6px 6px 0 0; background: none; padding: 3px 5px; font-size: 0.94em; }
.tabs button[aria-selected="true"] { background: var(--paper); border-color: var(--line); font-weight: 600; margin-bottom: -1px; }
`;

const tree = `
.view { flex: 1; min-height: 0; position: relative; margin: 0 8px 8px 12px; }
svg.tree { position: absolute; inset: 0; width: 100%; height: 100%; display: block; overflow: hidden; touch-action: pan-y; user-select: none; outline: none; }
svg.tree text { font: 12px system-ui, sans-serif; fill: var(--ink); pointer-events: none; unicode-bidi: isolate; }
.node { cursor: pointer; outline: none; }
svg.tree .title { font-weight: 600; letter-spacing: -.1px; }
.node rect.mark { rx: 2px; }
.node circle.mark { stroke-width: 1.5px; }
svg.tree circle ~ text { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
.node:hover .mark { filter: brightness(1.08); }
.node.onpath circle.mark { stroke: var(--quiet); stroke-width: 1.5px; }
.node.chosen circle.mark { stroke: var(--ink); stroke-width: 3px; }
.node:focus-visible .mark { stroke: var(--ink); stroke-width: 3px; }
.node:focus-visible circle.mark { stroke: var(--strong); stroke-width: 5px; }
.ring { pointer-events: none; }
.ring[hidden] { display: none; }
.ring rect { fill: none; stroke: var(--ink); stroke-width: 2px; rx: 2px; }
.ring rect:first-child { stroke: none; }
svg.tree:has(.node:focus-visible) .ring rect { stroke-width: 3px; }
svg.tree:has(.node:focus-visible) .ring rect:first-child { stroke: var(--paper); stroke-width: 2px; }
.link { fill: none; }
.gap { opacity: .18; }
svg.tree .members text { fill: var(--quiet); }
svg.tree .members .member { pointer-events: auto; cursor: pointer; fill: var(--ink); }
svg.tree .members image { cursor: pointer; image-rendering: pixelated; }
svg.tree .members image.chosen { outline: 2px solid var(--strong); }
svg.tree .members .member:hover { text-decoration: underline; }
svg.tree .members .chosen { font-weight: 700; fill: var(--strong); }
.axis .rule { stroke: var(--line); stroke-dasharray: 2 3; }
.axis .tick { stroke: var(--quiet); }
svg.tree .axis text { fill: var(--quiet); }
svg.tree .axis .value { text-anchor: middle; }
`;

const panels = `
.list { list-style: none; margin: 0; padding: 0; }
.list li { margin: 1px 0; overflow-wrap: anywhere; }
.list.inline { display: flex; flex-wrap: wrap; gap: 0 12px; }
.list.inline li { max-width: 100%; }
.line { display: flex; gap: 8px; align-items: baseline; justify-content: space-between; }
.line > .quiet { white-space: nowrap; }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
.effects li { margin: 5px 0; }
.effect { flex: 1; height: 8px; align-self: center; background: var(--back); border-radius: 3px; overflow: hidden; }
.effect span { display: block; height: 100%; background: var(--bar); }
.effect.less span { background: var(--less); }
.weights { margin: 3px 0; }
.weights > .quiet { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bar { display: flex; height: 14px; background: var(--back); border-radius: 3px; overflow: hidden; }
.bar > span { border-right: 1px solid var(--paper); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; margin-top: 6px; }
.gallery { display: flex; flex-wrap: wrap; gap: 5px; }
.picture { padding: 0; line-height: 0; overflow: hidden; }
.thumbnail { width: 52px; height: 52px; object-fit: contain; image-rendering: pixelated; background: #000; }
.panel > .thumbnail { width: 112px; height: 112px; border-radius: 5px; margin: 4px 0; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--quiet); padding-bottom: 3px; }
th, td { text-align: left; padding: 2px 6px 2px 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
`;

const other = `
/* The width that counts is that of the page or of the notebook's cell, not that of the screen. */
@container (max-width: 699px) {
  .page { grid-template: auto auto auto / minmax(0, 1fr); height: auto; }
  .side { border-left: 0; border-top: 1px solid var(--line); }
  .bodies { overflow: visible; }
  .view { height: 56vh; min-height: 360px; flex: none; margin: 0 6px 8px; }
  .search { flex: 1 1 100%; }
  .controls { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 4px 14px; align-items: end; }
  .field { display: flex; flex-wrap: wrap; gap: 0 6px; }
  .field select { flex: 1 1 100%; min-width: 0; max-width: none; }
  .field label { flex: 1 1 100%; }
  .field input[type="range"] { flex: 1; min-width: 0; }
  .pair { display: flex; align-items: end; }
  .pair .field { flex: 1; min-width: 0; }
  input[type="number"] { width: 58px; }
  .controls > .buttons { grid-column: 1 / -1; }
  .controls > .buttons button { flex: 1 1 auto; }
  header .buttons { flex: 1; }
  button:not(.plain), select { min-height: 34px; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }
@media print {
  .page { display: block; height: auto; }
  .controls, .search, header .buttons, .tabs, .panel button:not(.plain), .panel input, .panel label { display: none !important; }
  .view { height: auto; margin: 0; }
  svg.tree { position: static; height: auto; max-height: 170mm; }
  header { background: none; }
  .side { border: 0; }
  .bodies { overflow: visible; }
  button.plain { color: inherit; }
  .mark, .bar span, .effect span, .swatch { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section { break-inside: avoid; }
  .main, .side { break-inside: auto; }
}
`;

export const styles = colours + frame + controls + tree + panels + other;
