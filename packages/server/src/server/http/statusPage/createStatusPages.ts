import { createHash } from 'node:crypto'
import type { EndpointPath } from '@chain-data/protocol'
import type { HttpAnswer } from '../exchange.ts'
import { methodGuide } from './methodGuide.ts'
import type { StatusReport } from './StatusReport.ts'
import { statusPageScript, statusPageStyle } from './statusPageAssets.gen.ts'
import { createFormat } from './view/createFormat.ts'
import { Html, html } from './view/html.ts'
import { judgeServer } from './view/judgeChains.ts'
import { renderAnswer, renderState } from './view/renderState.ts'

export interface StatusPagesOptions {
  readonly report: () => StatusReport
  readonly chainIds: Readonly<Record<EndpointPath, readonly number[]>>
  readonly methodPrefix: string
  /** So long the same report answers everybody who asks, so that asking often costs nothing. */
  readonly freshMs?: number
  /** How often an open page asks for a report. */
  readonly pollMs?: number
}

const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src '${hashOf(statusPageScript)}'`,
  `style-src '${hashOf(statusPageStyle)}'`,
  // The icon of the page is written into it.
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), clipboard-write=(self), geolocation=(), microphone=(), payment=(), usb=()'
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect x='1' y='5' width='8' height='6' rx='3' fill='none' stroke='%234a7bea' stroke-width='2'/%3E%3Crect x='7' y='5' width='8' height='6' rx='3' fill='none' stroke='%234a7bea' stroke-width='2'/%3E%3C/svg%3E"

/** The status page and the report behind it, by path. */
export function createStatusPages(
  options: StatusPagesOptions
): ReadonlyMap<string, () => Promise<HttpAnswer>> {
  const { chainIds, methodPrefix, freshMs = 1_000, pollMs = 5_000 } = options
  const guide = methodGuide(chainIds, methodPrefix)
  // Whoever looks without a script is told the zone; the script goes on in the reader's own.
  const format = createFormat('en', 'UTC')
  const report = keepFresh(options.report, freshMs)
  const page = keepFresh(() => renderPage(report(), guide, format, pollMs).markup, freshMs)
  const feed = keepFresh(() => JSON.stringify(report()), freshMs)
  return new Map([
    ['/', async () => ({ status: 200, headers: pageHeaders, body: page() })],
    [
      '/status.json',
      async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: feed() })
    ]
  ])
}

function renderPage(
  report: StatusReport,
  guide: Html,
  format: ReturnType<typeof createFormat>,
  pollMs: number
): Html {
  const { word } = judgeServer(report, format)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${word} · chain-data status</title>
<link rel="icon" href="${icon}">
<style>${new Html(statusPageStyle)}</style>
<script>${new Html(statusPageScript)}</script>
</head>
<body data-word="${word}" data-now-seconds="${report.server.nowSeconds}" data-every-ms="${pollMs}">
<div class="page">
<header class="top"><strong>chain-data</strong><nav aria-label="Sections"><a href="#chains">Chains</a> <a href="#server">Server</a> <a href="#calls">How to call it</a></nav><button type="button" id="theme">Theme: auto</button></header>
<p id="announcer" class="unseen" role="status" aria-live="polite"></p>
<main>
<div id="answer" class="answer">${renderAnswer(report, format)}</div>
<div id="state">${renderState(report, format)}</div>
${guide}
</main>
</div>
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
