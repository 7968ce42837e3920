import { createHash } from 'node:crypto'
import { Html, html } from './html.ts'
import { judgeServer } from './judgeChains.ts'
import { pageScript } from './pageScript.ts'
import { renderFooter, renderReport, renderSilence } from './renderReport.ts'
import type { StatusReport } from './StatusReport.ts'

/** A page as it is sent. */
export interface StatusPage {
  readonly status: 200
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Style of the status page, as it stands in it. A system font, two themes, one column up to 600 pixels. */
const pageStyle = `
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

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src '${hashOf(pageScript)}'`,
    `style-src '${hashOf(pageStyle)}'`,
    // The icon of the page is written into it.
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), clipboard-write=(), geolocation=(), microphone=(), payment=(), usb=()'
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect x='1' y='5' width='8' height='6' rx='3' fill='none' stroke='%234a7bea' stroke-width='2'/%3E%3Crect x='7' y='5' width='8' height='6' rx='3' fill='none' stroke='%234a7bea' stroke-width='2'/%3E%3C/svg%3E"

/**
 * Makes the status page and the report behind it, by path.
 *
 * @param options.freshMs - how long one report is the answer to everybody, so that asking often costs nothing.
 * @param options.pollMs - how often an open page asks for itself again.
 * @param options.documentation - URL of the documentation; absent where the package names none.
 */
export function createStatusPages(options: {
  readonly report: () => StatusReport
  readonly freshMs?: number
  readonly pollMs?: number
  readonly documentation?: string | undefined
}): ReadonlyMap<string, () => Promise<StatusPage>> {
  const { report: makeReport, freshMs = 1_000, pollMs = 5_000, documentation } = options
  const report = keepFresh(makeReport, freshMs)
  const page = keepFresh(() => renderPage(report(), pollMs, documentation).markup, freshMs)
  const feed = keepFresh(() => JSON.stringify(report()), freshMs)
  const json = { 'content-type': 'application/json' }
  return new Map<string, () => Promise<StatusPage>>([
    ['/', async () => ({ status: 200, headers: pageHeaders, body: page() })],
    ['/status.json', async () => ({ status: 200, headers: json, body: feed() })]
  ])
}

function renderPage(report: StatusReport, pollMs: number, documentation: string | undefined): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${judgeServer(report).word} · chain-data status</title>
<link rel="icon" href="${icon}">
<style>${new Html(pageStyle)}</style>
<script>${new Html(pageScript)}</script>
</head>
<body data-every-ms="${pollMs}">
<div class="page">
<header class="top"><strong>chain-data</strong><nav aria-label="Sections"><a href="#chains">Chains</a> <a href="#server">Server</a></nav><button type="button" id="theme">Theme: auto</button></header>
<p id="announcer" class="unseen" role="status" aria-live="polite"></p>
<main data-now-seconds="${report.server.nowSeconds}">
${renderReport(report)}
</main>
<footer class="note">${renderFooter(report, documentation)}</footer>
</div>
<template id="silence">${renderSilence()}</template>
</body>
</html>
`
}

/** The same value for everybody who asks within `ms`. */
function keepFresh<T>(make: () => T, ms: number): () => T {
  let kept: { readonly value: T; readonly atMs: number } | undefined
  return () => {
    const atMs = performance.now()
    if (kept === undefined || atMs - kept.atMs >= ms) kept = { value: make(), atMs }
    return kept.value
  }
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
