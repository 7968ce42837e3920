import type { EvmChainStatus, ServerStatus, StatusReport } from '../StatusReport.ts'
import type { Format } from './createFormat.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { judgeEvmChain, judgeServer, judgeSolanaCluster, type Tone, type Verdict } from './judgeChains.ts'
import { renderCallCharts, renderChainCharts } from './renderCharts.ts'

/** Tick, hourglass and exclamation mark: told apart without colour. The word stands beside each. */
const icons: Readonly<Record<Tone, string>> = {
  good: 'M4 8.5l2.8 2.8L12.5 5.5',
  waiting: 'M8 4v4.2l2.6 1.6',
  bad: 'M8 4v5M8 11.6v.1'
}

/** The methods, too, take an older look at the pool for none. */
const oldPoolSeconds = 15

/** The line on top. */
export function renderAnswer(report: StatusReport, format: Format): Html {
  const { server } = report
  const { tone, sentence, reason, more, troubled } = judgeServer(report, format)
  const links = troubled?.map(({ chainId, words }) => html`<li><a href="#chain-${chainId}">${words}</a></li>`)
  const updated = html`As of ${time(server.nowSeconds, format)}. Up for ${format.duration(server.uptimeSeconds)}, version ${server.version}.`
  return html`${icon(tone)}<div><h1>${sentence}</h1>${reason === undefined ? undefined : html`<p class="reason">${reason}</p>`}<p>${more}${more === undefined ? '' : ' '}${updated}</p>${links && html`<ul class="troubled" aria-label="Chains that are not in order">${links}</ul>`}</div>`
}

/**
 * The line on top while the server does not answer.
 * @param since - Unix second of the first question without an answer.
 * @param asOf - Unix second of what is still shown.
 */
export function renderSilence(format: Format, since: number, asOf: number): Html {
  return html`${icon('bad')}<div><h1>Not reachable since ${format.clock(since)}</h1><p>Showing what was known at ${time(asOf, format)}. The page goes on trying.</p></div>`
}

/** Chains and callers, everything that changes below the answer. */
export function renderState(report: StatusReport, format: Format): Html {
  const chains = report.evm.map((chain, place) =>
    renderEvmChain(chain, renderCharts(report, place, format), format)
  )
  const clusters = report.solana.map(cluster => {
    const facts = [fact('Newest slot', number(cluster.head, format)), fact('Index', 'none: read live')]
    return card(cluster.chainId, `Solana cluster ${cluster.chainId}`, judgeSolanaCluster(cluster), facts)
  })
  return html`<section aria-labelledby="chains"><h2 id="chains">Chains</h2>${chains}${clusters}</section><section aria-labelledby="server"><h2 id="server">Server</h2>${renderServer(report, format)}</section>`
}

function renderCharts(report: StatusReport, place: number, format: Format): HtmlPart {
  const series = report.charts.evm[place]
  return series === undefined
    ? undefined
    : html`<div class="charts">${renderChainCharts(report, series, format)}</div>`
}

function renderEvmChain(chain: EvmChainStatus, charts: HtmlPart, format: Format): Html {
  const verdict = judgeEvmChain(chain, format)
  const { indexedTo, indexedFrom, nodes, webSockets, blocksPerSecond } = chain
  const { transactionsPerSecond, storeBytes, lastReorg } = chain
  const facts = [
    fact('Newest block', number(chain.head, format)),
    fact('Indexed to', number(indexedTo, format)),
    fact('Finalized', number(chain.finalized, format)),
    fact('Lag', lag(chain, format)),
    fact('Blocks', rate(blocksPerSecond, format)),
    fact('Transactions', rate(transactionsPerSecond, format)),
    fact('Pool', pool(chain, format)),
    fact('Nodes', nodes && `${nodes.inService} of ${nodes.total} in service`),
    webSockets && fact('WebSockets', `${webSockets.connected} of ${webSockets.total} connected`),
    chain.waiting && fact('Indexed by', indexedBy(chain)),
    storeBytes !== undefined && fact('Index on disk', format.bytes(storeBytes)),
    lastReorg && fact('Last reorg', reorg(lastReorg, format)),
    indexedFrom === undefined || indexedFrom === 0
      ? undefined
      : fact('Indexed from', number(indexedFrom, format))
  ]
  const left = chain.etaSeconds === undefined ? '' : `, about ${format.duration(chain.etaSeconds)} left`
  const { percent } = chain
  const name = `Chain ${chain.chainId}`
  const progress = chain.ready
    ? undefined
    : html`<p class="progress"><progress max="100"${percent === undefined ? undefined : html` value="${percent}"`} aria-label="First backfill of chain ${chain.chainId}"></progress><span>${percent === undefined ? 'not begun' : `${format.number(percent, 1)} %${left}`}</span></p>`
  return card(chain.chainId, name, verdict, facts, progress, charts)
}

function card(
  chainId: number,
  name: string,
  { tone, word, reason }: Verdict,
  facts: readonly HtmlPart[],
  progress?: HtmlPart,
  charts?: HtmlPart
): Html {
  const words = reason === undefined ? undefined : html`<p class="problem">${reason}</p>`
  return html`<article class="card" id="chain-${chainId}"><header><h3>${name}</h3><span class="badge ${tone}">${icon(tone)}${word}</span></header>${words}${progress}<dl>${facts}</dl>${charts}</article>`
}

function renderServer(report: StatusReport, format: Format): Html {
  const { server } = report
  const { callsPerSecond, memory, eventLoopDelay, refusals } = server
  const refused = Object.entries(refusals)
  const facts = [
    fact('Calls', rate(callsPerSecond, format)),
    fact('Under way', format.count(server.inFlight, 'request')),
    fact('Memory', `${format.bytes(memory.rssBytes)}, heap ${format.bytes(memory.heapUsedBytes)}`),
    fact('Event loop delay', eventLoopDelay && `${format.number(eventLoopDelay.p99Ms)} ms (p99)`)
  ]
  const refusedText =
    refused.length === 0
      ? 'No request was refused since the start.'
      : `Refused since the start: ${refused.map(([reason, count]) => `${format.number(count)} ${reason}`).join(', ')}.`
  return html`<article class="card"><dl>${facts}</dl><div class="charts">${renderCallCharts(report, format)}</div>${renderCalls(server, format)}<p class="note">${refusedText}</p></article>`
}

function renderCalls({ calls }: ServerStatus, format: Format): Html {
  if (calls.length === 0) return html`<p class="note">No calls in the last five minutes.</p>`
  const cell = (label: string, text: string) => html`<td data-label="${label}">${text}</td>`
  const ms = (value: number) => `${format.short(value)} ms`
  const rows = calls.map(
    call =>
      html`<tr><th scope="row">${call.method}</th>${cell('Calls', format.number(call.count))}${cell('Failed', format.number(call.failed))}${cell('p50', ms(call.p50Ms))}${cell('p95', ms(call.p95Ms))}${cell('p99', ms(call.p99Ms))}</tr>`
  )
  return html`<table><caption>Calls of the last five minutes</caption><thead><tr><th scope="col">Method</th><th scope="col">Calls</th><th scope="col">Failed</th><th scope="col">p50</th><th scope="col">p95</th><th scope="col">p99</th></tr></thead><tbody>${rows}</tbody></table>`
}

function fact(name: string, value: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value ?? html`<span class="unknown">not known</span>`}</dd></div>`
}

function number(value: number | undefined, format: Format): Html | undefined {
  return value === undefined
    ? undefined
    : html`<data value="${value}" title="${value}">${format.number(value)}</data>`
}

function indexedBy({ indexing }: EvmChainStatus): string {
  return indexing === false ? 'another server; this one only answers' : 'another server on the same store'
}

function lag({ phase, lagBlocks, lagSeconds }: EvmChainStatus, format: Format): string | undefined {
  // The node's last word is old: nobody knows how far it is by now.
  if (lagBlocks === undefined || phase === 'stalled' || phase === 'starting') return undefined
  if (lagBlocks === 0) return 'none'
  const seconds = lagSeconds === undefined || lagSeconds === 0 ? '' : `, about ${format.duration(lagSeconds)}`
  return `${format.count(lagBlocks, 'block')}${seconds}`
}

function rate(perSecond: number | undefined, format: Format): string | undefined {
  return perSecond === undefined ? undefined : `${format.short(perSecond)} a second`
}

function reorg({ atSeconds, blocks }: NonNullable<EvmChainStatus['lastReorg']>, format: Format): Html {
  return html`${format.count(blocks, 'block')} at ${time(atSeconds, format)}`
}

function pool({ poolCovered, poolAgeSeconds, poolTransactions }: EvmChainStatus, format: Format): string {
  if (poolAgeSeconds === undefined) return 'not seen yet'
  const count = poolTransactions !== undefined && `${format.number(poolTransactions)} pending`
  const seen = poolAgeSeconds > oldPoolSeconds && `seen ${format.duration(poolAgeSeconds)} ago`
  const parts = [count, !poolCovered && 'not complete', seen].filter(part => part !== false)
  return parts.length === 0 ? 'seen just now' : parts.join(', ')
}

function time(seconds: number, format: Format): Html {
  const iso = new Date(seconds * 1_000).toISOString()
  return html`<time datetime="${iso}" title="${format.moment(seconds)}">${format.clock(seconds)}</time>`
}

function icon(tone: Tone): Html {
  return html`<svg class="icon ${tone}" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="7"/><path d="${icons[tone]}"/></svg>`
}
