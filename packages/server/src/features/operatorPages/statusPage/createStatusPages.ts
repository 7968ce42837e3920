import { createHash } from 'node:crypto'
import { Html, html } from './html.ts'
import { judgeServer } from './judgeChains.ts'
import { pageScript } from './pageScript.ts'
import { renderReport, renderSilence } from './renderReport.ts'
import type { StatusReport } from './StatusReport.ts'

/** Style of the status page, as it stands in it. A system font, two themes, one column up to 600 pixels. */
const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #101214); --card: light-dark(#ffffff, #181b1f); --line: light-dark(#dde1e7, #2c3138);
  --text: light-dark(#1a1d21, #e9ebee); --quiet: light-dark(#59616d, #a2abb8); --accent: light-dark(#2456c8, #8fb3ff);
  --good: light-dark(#15703c, #6ccf8e); --waiting: light-dark(#835400, #f0b94d); --bad: light-dark(#b3231b, #ff8d83);
}
:root[data-theme="light"] { color-scheme: light; } :root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; overflow-wrap: anywhere; }
body { max-width: 1032px; margin: 0 auto; padding: 0 16px 48px; background: var(--ground); color: var(--text); font: 14px / 20px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
h1, h2, h3, p, dl, dd, figure { margin: 0; } h1, h2, h3, .top, .badge { font-weight: 600; }
h1 { font-size: 28px; line-height: 36px; } h2 { font-size: 20px; line-height: 28px; margin: 24px 0 12px; }
h3, dd, .reason { font-size: 16px; line-height: 24px; } dt, .plot { font-size: 12px; line-height: 16px; }
a, button { color: var(--accent); }
button { font: inherit; background: transparent; border: 1px solid var(--line); border-radius: 6px; padding: 5px 12px; cursor: pointer; }
html:not(.live) button { display: none; }
.unseen { position: absolute; clip-path: inset(50%); }
.good { color: var(--good); } .waiting { color: var(--waiting); } .bad { color: var(--bad); } .quiet, dt, .plot { color: var(--quiet); }
.icon { flex: none; width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.top, .card header { display: flex; justify-content: space-between; align-items: center; gap: 12px; margin-bottom: 12px; } .top { min-height: 56px; }
.answer { display: flex; gap: 16px; padding: 8px 0 28px; } .answer .icon { width: 36px; height: 36px; } .answer p { margin-top: 4px; }
.troubled { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0 0; padding: 0; list-style: none; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px; margin-bottom: 16px; }
.badge { display: flex; align-items: center; gap: 6px; white-space: nowrap; }
.problem { border-left: 3px solid var(--bad); padding: 2px 0 2px 12px; margin-bottom: 16px; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(200px, 45%), 1fr)); gap: 12px 16px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 16px 32px; margin-top: 20px; }
.plot { display: grid; grid-template-columns: 76px 1fr; gap: 4px 8px; margin-top: 8px; } .plot div { display: flex; justify-content: space-between; }
.plot .y { flex-direction: column; text-align: right; margin: -6px 0; } .plot .x { grid-column: 2; }
.plot svg { width: 100%; height: 72px; border-top: 1px dashed var(--line); border-bottom: 1px solid var(--quiet); }
.line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linecap: round; vector-effect: non-scaling-stroke; }
@media (max-width: 600px) { h1 { font-size: 20px; line-height: 28px; } .charts { grid-template-columns: minmax(0, 1fr); } }
@media (prefers-reduced-motion: no-preference) { .line { transition: d 0.3s; } }
`

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // The icon of the page is written into it.
  'content-security-policy': `default-src 'none'; script-src '${hashOf(pageScript)}'; style-src '${hashOf(pageStyle)}'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), clipboard-write=(), geolocation=(), microphone=(), payment=(), usb=()'
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect x='1' y='5' width='8' height='6' rx='3' fill='none' stroke='%234a7bea' stroke-width='2'/%3E%3Crect x='7' y='5' width='8' height='6' rx='3' fill='none' stroke='%234a7bea' stroke-width='2'/%3E%3C/svg%3E"

/**
 * Makes the status page and the report behind it, by path. One report answers everybody within `freshMs`; an open page asks
 * for itself again every `pollMs`.
 */
export function createStatusPages(options: {
  readonly report: () => StatusReport
  readonly freshMs?: number
  readonly pollMs?: number
}): ReadonlyMap<string, () => Promise<{ status: number; headers: Record<string, string>; body: string }>> {
  const { report: makeReport, freshMs = 1_000, pollMs = 5_000 } = options
  let kept = { page: '', json: '', atMs: Number.NEGATIVE_INFINITY }
  const fresh = () => {
    const atMs = performance.now()
    if (atMs - kept.atMs < freshMs) return kept
    const report = makeReport()
    kept = { page: renderPage(report, pollMs).markup, json: JSON.stringify(report), atMs }
    return kept
  }
  const jsonHeaders = { 'content-type': 'application/json' }
  return new Map([
    ['/', async () => ({ status: 200, headers: pageHeaders, body: fresh().page })],
    ['/status.json', async () => ({ status: 200, headers: jsonHeaders, body: fresh().json })]
  ])
}

function renderPage(report: StatusReport, pollMs: number): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${judgeServer(report).word} · chain-data status</title>
<link rel="icon" href="${icon}">
<style>${new Html(pageStyle)}</style>
<script>${new Html(pageScript)}</script>
</head>
<body data-every-ms="${pollMs}">
<header class="top">chain-data <button type="button" id="theme">Theme</button></header>
<p id="announcer" class="unseen" role="status" aria-live="polite"></p>
<main data-now="${new Date(report.server.nowSeconds * 1_000).toISOString()}">${renderReport(report)}</main>
<template id="silence">${renderSilence()}</template>
</body>
</html>
`
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
