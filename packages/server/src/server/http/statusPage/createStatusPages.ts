import { createHash } from 'node:crypto'
import { Html, type HtmlPart, html } from './html.ts'
import { judgeServer } from './judgeChains.ts'
import { pageScript } from './pageScript.ts'
import { pageStyle } from './pageStyle.ts'
import { renderReport, renderSilence } from './renderReport.ts'
import type { StatusReport } from './StatusReport.ts'

export interface StatusPagesOptions {
  readonly report: () => StatusReport
  /** How long one report is the answer to everybody who asks, so that asking often costs nothing. */
  readonly freshMs?: number
  /** How often an open page asks for itself again. */
  readonly pollMs?: number
}

/** A page as it is sent. */
export interface StatusPage {
  readonly status: 200
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

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

/** The status page and the report behind it, by path. */
export function createStatusPages({
  report: makeReport,
  freshMs = 1_000,
  pollMs = 5_000
}: StatusPagesOptions): ReadonlyMap<string, () => Promise<StatusPage>> {
  const report = keepFresh(makeReport, freshMs)
  const page = keepFresh(() => renderPage(report(), pollMs).markup, freshMs)
  const feed = keepFresh(() => JSON.stringify(report()), freshMs)
  const json = { 'content-type': 'application/json' }
  return new Map<string, () => Promise<StatusPage>>([
    ['/', async () => ({ status: 200, headers: pageHeaders, body: page() })],
    ['/status.json', async () => ({ status: 200, headers: json, body: feed() })]
  ])
}

function renderPage(report: StatusReport, pollMs: number): Html {
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
<footer class="note">${endpointsOf(report)}How to call it: the README of <code>@chain-data/client</code>.</footer>
</div>
<template id="silence">${renderSilence()}</template>
</body>
</html>
`
}

/** Names the endpoints that are served. */
function endpointsOf({ evm, solana }: StatusReport): HtmlPart {
  const paths = [evm.length > 0 && '/evm-chain', solana.length > 0 && '/solana'].filter(
    path => path !== false
  )
  const names = paths.map((path, index) => html`${index > 0 && ' and '}<code>${path}</code>`)
  return paths.length > 0 && html`JSON-RPC 2.0 over POST at ${names}. `
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
