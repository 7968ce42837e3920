/** Style of the status page, as it stands in it. A system font, two themes, one column up to 600 pixels. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #101214);
  --card: light-dark(#ffffff, #181b1f);
  --line: light-dark(#dde1e7, #2c3138);
  --text: light-dark(#1a1d21, #e9ebee);
  --quiet: light-dark(#59616d, #a2abb8);
  --accent: light-dark(#2456c8, #8fb3ff);
  --good: light-dark(#15703c, #6ccf8e);
  --waiting: light-dark(#835400, #f0b94d);
  --bad: light-dark(#b3231b, #ff8d83);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 14px / 20px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
h1, h2, h3, p, dl, dd, figure { margin: 0; }
.page { max-width: 1000px; margin: 0 auto; padding: 0 16px 48px; }
.top { display: flex; align-items: center; gap: 16px; min-height: 56px; }
.top strong { font-weight: 600; margin-right: auto; }
.top nav { display: flex; gap: 20px; }
.top a { text-decoration: none; }
.top a:hover { text-decoration: underline; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.icon { width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.answer { display: flex; gap: 16px; align-items: flex-start; padding: 20px 0 28px; }
.answer > div { min-width: 0; }
.answer .icon { flex: none; width: 36px; height: 36px; }
h1 { font-size: 28px; line-height: 36px; font-weight: 600; overflow-wrap: anywhere; }
.answer p, .note, caption { color: var(--quiet); }
.answer p { margin-top: 4px; }
.answer .troubled { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0 0; padding: 0; list-style: none; }
.answer .reason { color: var(--text); font-size: 16px; line-height: 24px; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
h2 { font-size: 20px; line-height: 28px; font-weight: 600; margin: 24px 0 12px; }
h3 { font-size: 16px; line-height: 24px; font-weight: 600; overflow-wrap: anywhere; }
.good { color: var(--good); }
.waiting { color: var(--waiting); }
.bad { color: var(--bad); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px; margin-bottom: 16px; }
.card header { display: flex; justify-content: space-between; align-items: center; gap: 12px; margin-bottom: 12px; }
.badge { display: inline-flex; align-items: center; gap: 6px; font-weight: 600; white-space: nowrap; }
.problem { border-left: 3px solid var(--bad); padding: 2px 0 2px 12px; margin-bottom: 16px; overflow-wrap: anywhere; }
.progress { display: flex; align-items: center; gap: 12px; margin-bottom: 16px; }
.progress span { flex: none; }
progress { appearance: none; flex: 1; min-width: 0; height: 8px; border: 0; border-radius: 4px; overflow: hidden; background: var(--line); accent-color: var(--accent); }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 12px 16px; }
dt { font-size: 12px; line-height: 16px; color: var(--quiet); }
dd { font-size: 16px; line-height: 24px; overflow-wrap: anywhere; }
.unknown { color: var(--quiet); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 16px 32px; margin-top: 20px; }
figcaption { min-height: 20px; margin-bottom: 8px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.plot { display: grid; grid-template-columns: 76px 1fr; gap: 4px 8px; font-size: 12px; line-height: 16px; color: var(--quiet); }
.plot .y, .plot .x { display: flex; justify-content: space-between; }
.plot .y { flex-direction: column; text-align: right; margin: -6px 0; }
.plot .x { grid-column: 2; }
.plot svg { width: 100%; height: 72px; border-top: 1px dashed var(--line); border-bottom: 1px solid var(--quiet); }
.line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.area { fill: var(--accent); opacity: 0.12; }
table { width: 100%; border-collapse: collapse; margin-top: 20px; }
caption { text-align: left; margin-bottom: 4px; }
th, td { padding: 6px 0 6px 16px; text-align: right; font-weight: 400; border-top: 1px solid var(--line); }
thead th { border: 0; font-size: 12px; line-height: 16px; color: var(--quiet); }
th:first-child { padding-left: 0; text-align: left; overflow-wrap: anywhere; }
tbody th, code { font-family: var(--mono); font-size: 12px; }
.note { margin-top: 16px; }
button { font: inherit; color: var(--accent); background: transparent; border: 1px solid var(--line); border-radius: 6px; padding: 5px 12px; cursor: pointer; }
button:hover { border-color: var(--accent); }
#theme { min-width: 116px; }
html:not(.live) button { display: none; }
@media (max-width: 600px) {
  .top nav { display: none; }
  .answer { gap: 12px; padding: 12px 0 20px; }
  .answer .icon { width: 28px; height: 28px; }
  h1 { font-size: 20px; line-height: 28px; }
  dl { grid-template-columns: 1fr 1fr; }
  .progress { flex-direction: column; align-items: stretch; gap: 4px; }
  progress { flex: none; width: 100%; }
  .charts { grid-template-columns: minmax(0, 1fr); }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: repeat(3, 1fr); gap: 4px 8px; padding: 10px 0; border-top: 1px solid var(--line); }
  th, td { border: 0; padding: 0; text-align: left; }
  tbody th { grid-column: 1 / -1; }
  td::before { content: attr(data-label) " "; font-size: 12px; color: var(--quiet); }
}
@media (prefers-reduced-motion: no-preference) {
  .line, .area { transition: d 0.3s; }
}
`
