import type { Backfill, Integrity } from '../../../model/sync.ts'
import {
  bytes,
  clock,
  count,
  decimal,
  duration,
  type Html,
  type HtmlPart,
  html,
  number,
  short
} from './html.ts'
import { type JudgedChain, judgeChains, judgeServer, type Tone } from './judgeChains.ts'
import { renderCallCharts, renderChainCharts } from './renderCharts.ts'
import type { EvmChainStatus, ServerStatus, StatusReport } from './StatusReport.ts'

/** Tick, hourglass and exclamation mark: told apart without colour. The word stands beside each. */
const icons: Readonly<Record<Tone, string>> = {
  good: 'M4 8.5l2.8 2.8L12.5 5.5',
  waiting: 'M8 4v4.2l2.6 1.6',
  bad: 'M8 4v5M8 11.6v.1'
}

/** The methods, too, take an older poll of the pool for none. */
const oldPoolSeconds = 15

/** Renders the heading, the chains and the callers: chains that are not in order first. */
export function renderReport(report: StatusReport): Html {
  const chains = judgeChains(report).map(({ evm, solana, ...judged }) => {
    if (evm !== undefined) {
      const series = report.charts.evm.find(({ chainId }) => chainId === evm.chainId)
      return renderEvmChain(evm, judged, series && renderChainCharts(report, series))
    }
    return solana && renderCard(judged, clusterFacts(solana))
  })
  return html`<div id="answer" class="answer">${renderAnswer(report)}</div><section aria-labelledby="chains"><h2 id="chains">Chains</h2>${chains}</section><section aria-labelledby="server"><h2 id="server">Server</h2>${renderServer(report)}</section>`
}

/** Renders the heading for a server that does not answer; the page's script fills in both times. */
export function renderSilence(): Html {
  return html`${icon('bad')}<div><h1>Not reachable since <time></time></h1><p>Showing what was known at <time></time>. The page goes on trying.</p></div>`
}

/**
 * Names the endpoints that are served, and links the documentation.
 *
 * @param documentation - absent where the package names no homepage: in a checkout of the source.
 */
export function renderFooter({ evm, solana }: StatusReport, documentation: string | undefined): Html {
  const paths = [evm.length > 0 && '/evm-chain', solana.length > 0 && '/solana'].filter(
    path => path !== false
  )
  const names = paths.map((path, index) => html`${index > 0 && ' and '}<code>${path}</code>`)
  const endpoints = paths.length > 0 && html`JSON-RPC 2.0 over POST at ${names}. `
  const link =
    documentation === undefined
      ? html`Documentation: <code>docs/README.md</code> of the source.`
      : html`<a href="${documentation}" rel="noreferrer">Documentation</a>`
  return html`${endpoints}${link}`
}

function renderAnswer(report: StatusReport): Html {
  const { nowSeconds, uptimeSeconds, version } = report.server
  const { tone, sentence, reason, more, troubled } = judgeServer(report)
  const links = troubled?.map(({ chainId, words }) => html`<li><a href="#chain-${chainId}">${words}</a></li>`)
  const list = links && html`<ul class="troubled" aria-label="Chains that are not in order">${links}</ul>`
  const updated = html`As of ${clock(nowSeconds)}. Up for ${duration(uptimeSeconds)}, version ${version}.`
  return html`${icon(tone)}<div><h1>${sentence}</h1>${reason && html`<p class="reason">${reason}</p>`}<p>${more && `${more} `}${updated}</p>${list}</div>`
}

function renderEvmChain(chain: EvmChainStatus, judged: JudgedChain, charts: HtmlPart): Html {
  const { indexedTo, indexedFrom, nodes, webSockets, storeBytes, freeBytes, lastReorg, percent, etaSeconds } =
    chain
  const facts = [
    fact('Newest block', numberOf(chain.head)),
    fact('Block age', ageOf(chain.headAgeSeconds)),
    fact('Indexed to', numberOf(indexedTo)),
    fact('Finalized', numberOf(chain.finalized)),
    fact('Lag', lag(chain)),
    fact('Blocks', rate(chain.blocksPerSecond)),
    fact('Transactions', rate(chain.transactionsPerSecond)),
    fact('Pool', pool(chain)),
    chain.integrity && fact('Checked', checked(chain.integrity)),
    fact('Nodes', nodes && `${nodes.inService} of ${nodes.total} in service`),
    webSockets && fact('WebSockets', `${webSockets.connected} of ${webSockets.total} connected`),
    chain.waiting && fact('Indexed by', indexedBy(chain)),
    storeBytes !== undefined && fact('Index on disk', bytes(storeBytes)),
    freeBytes !== undefined && fact('Free on disk', bytes(freeBytes)),
    lastReorg &&
      fact('Last reorg', html`${count(lastReorg.blocks, 'block')} at ${clock(lastReorg.atSeconds)}`),
    (indexedFrom ?? 0) > 0 && fact('Indexed from', numberOf(indexedFrom)),
    chain.backfill && fact('Backfill', backfill(chain.backfill))
  ]
  const left = etaSeconds !== undefined && `, about ${duration(etaSeconds)} left`
  const done = percent === undefined ? 'not begun' : html`${decimal(percent)} %${left}`
  const value = percent !== undefined && html` value="${percent}"`
  const progress =
    !chain.backfilled &&
    html`<p class="progress"><progress max="100"${value} aria-label="First backfill of ${chain.label}"></progress><span>${done}</span></p>`
  return renderCard(judged, facts, [progress], charts)
}

function clusterFacts(cluster: StatusReport['solana'][number]): readonly Html[] {
  return [
    fact('Newest slot', numberOf(cluster.head)),
    fact('Slot age', ageOf(cluster.headAgeSeconds)),
    fact('Last answer', ago(cluster.answeredSecondsAgo)),
    fact('Index', 'none: read live')
  ]
}

function renderCard(
  { chainId, label, verdict: { tone, word, reason } }: JudgedChain,
  facts: readonly HtmlPart[],
  above?: HtmlPart,
  below?: HtmlPart
): Html {
  const problem = reason !== undefined && html`<p class="problem">${reason}</p>`
  return html`<article class="card" id="chain-${chainId}"><header><h3>${label}</h3><span class="badge ${tone}">${icon(tone)}${word}</span></header>${problem}${above}<dl>${facts}</dl>${below}</article>`
}

function renderServer(report: StatusReport): Html {
  const { callsPerSecond, inFlight, memory, eventLoopDelay, refusals } = report.server
  const facts = [
    fact('Calls', rate(callsPerSecond)),
    fact('Under way', count(inFlight, 'request')),
    fact('Memory', html`${bytes(memory.rssBytes)}, heap ${bytes(memory.heapUsedBytes)}`),
    fact('Event loop delay', eventLoopDelay && html`${number(eventLoopDelay.p99Ms)} ms (p99)`)
  ]
  const refused = Object.entries(refusals).map(
    ([reason, refusedCount], index) => html`${index > 0 && ', '}${number(refusedCount)} ${reason}`
  )
  const refusedText =
    refused.length === 0
      ? 'No request was refused since the start.'
      : html`Refused since the start: ${refused}.`
  return html`<article class="card"><dl>${facts}</dl>${renderCallCharts(report)}${renderCalls(report.server)}<p class="note">${refusedText}</p></article>`
}

function renderCalls({ calls }: ServerStatus): Html {
  if (calls.length === 0) return html`<p class="note">No calls in the last five minutes.</p>`
  const cell = (label: string, text: HtmlPart) => html`<td data-label="${label}">${text}</td>`
  const ms = (value: number) => html`${short(value)} ms`
  const rows = calls.map(
    call =>
      html`<tr><th scope="row">${call.method}</th>${cell('Calls', number(call.count))}${cell('Failed', number(call.failed))}${cell('p50', ms(call.p50Ms))}${cell('p95', ms(call.p95Ms))}${cell('p99', ms(call.p99Ms))}</tr>`
  )
  return html`<table><caption>Calls of the last five minutes</caption><thead><tr><th scope="col">Method</th><th scope="col">Calls</th><th scope="col">Failed</th><th scope="col">p50</th><th scope="col">p95</th><th scope="col">p99</th></tr></thead><tbody>${rows}</tbody></table>`
}

function fact(name: string, value: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value ?? html`<span class="unknown">not known</span>`}</dd></div>`
}

function numberOf(value: number | undefined): Html | undefined {
  return value === undefined ? undefined : number(value)
}

function ageOf(seconds: number | undefined): HtmlPart {
  return seconds === undefined ? undefined : duration(seconds)
}

function ago(seconds: number | undefined): HtmlPart {
  return seconds === undefined ? undefined : html`${duration(seconds)} ago`
}

function rate(perSecond: number | undefined): Html | undefined {
  return perSecond === undefined ? undefined : html`${short(perSecond)} a second`
}

function indexedBy({ indexing }: EvmChainStatus): string {
  return indexing === false ? 'another server; this one only answers' : 'another server on the same store'
}

function lag({ phase, lagBlocks, lagSeconds }: EvmChainStatus): HtmlPart {
  // The node has not answered lately: how far it is by now is not known.
  if (lagBlocks === undefined || phase === 'stalled' || phase === 'starting') return undefined
  if (lagBlocks === 0) return 'none'
  return html`${count(lagBlocks, 'block')}${(lagSeconds ?? 0) > 0 && `, about ${duration(lagSeconds ?? 0)}`}`
}

function pool({ poolCovered, poolAgeSeconds, poolTransactions }: EvmChainStatus): HtmlPart {
  if (poolAgeSeconds === undefined) return 'not seen yet'
  const parts = [
    poolTransactions !== undefined && html`${number(poolTransactions)} pending`,
    !poolCovered && 'not complete',
    poolAgeSeconds > oldPoolSeconds && `seen ${duration(poolAgeSeconds)} ago`
  ].filter(part => part !== false)
  return parts.length === 0 ? 'seen just now' : parts.map((part, index) => [index > 0 && ', ', part])
}

function backfill({ to, blocksLeft, expectedSeconds, problem }: Backfill): HtmlPart {
  const why = problem ?? (expectedSeconds !== undefined && html`about ${duration(expectedSeconds)} left`)
  return html`back to block ${number(to)}, ${count(blocksLeft, 'block')} to go${why && html`: ${why}`}`
}

function checked({ passDone, passEndedAt, damaged = 0, healed = 0, problem }: Integrity): HtmlPart {
  const parts = [
    passDone !== undefined && `${Math.floor(passDone * 100)} %`,
    passEndedAt !== undefined && html`last pass ended at ${clock(passEndedAt)}`,
    damaged > 0 && html`${number(damaged)} damaged${problem !== undefined && `: ${problem}`}`,
    healed > 0 && html`${number(healed)} healed`
  ].filter(part => part !== false)
  return parts.map((part, index) => [index > 0 && ', ', part])
}

function icon(tone: Tone): Html {
  return html`<svg class="icon ${tone}" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="7"/><path d="${icons[tone]}"/></svg>`
}
