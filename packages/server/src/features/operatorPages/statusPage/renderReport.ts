import type { Html, HtmlPart } from './html.ts'
import { bytes, clock, count, duration, html, known, list, number, short } from './html.ts'
import { type JudgedChain, judgeChains, judgeServer, type Tone } from './judgeChains.ts'
import { renderCallCharts, renderChainCharts } from './renderCharts.ts'
import type { EvmChainStatus, StatusReport } from './StatusReport.ts'

/** Tick, clock and exclamation mark: told apart without colour. The word stands beside each. */
const icons = { good: 'M4 8.5l2.8 2.8L12.5 5.5', waiting: 'M8 4v4.2l2.6 1.6', bad: 'M8 4v5M8 11.6v.1' }

/** Renders the heading, the chains and the callers: chains that are not in order first. */
export function renderReport(report: StatusReport): Html {
  const chains = judgeChains(report)
  const cards = chains.map(chain => renderChain(report, chain))
  return html`<div id="answer" class="answer">${renderAnswer(report, chains)}</div>
<section aria-labelledby="chains"><h2 id="chains">Chains</h2>${cards}</section>
<section aria-labelledby="server"><h2 id="server">Server</h2><article class="card">${renderServer(report)}${renderCallCharts(report)}</article></section>`
}

/** Renders the heading for a server that does not answer; the page's script fills in both times. */
export function renderSilence(): Html {
  return html`${icon('bad')}<div><h1>Not reachable since <time></time></h1><p class="quiet">Showing what was known at <time></time>. The page goes on trying.</p></div>`
}

function renderAnswer(report: StatusReport, chains: readonly JudgedChain[]): Html {
  const { nowSeconds, uptimeSeconds, version } = report.server
  const { tone, sentence, reason } = judgeServer(report)
  const troubled = chains.filter(chain => chain.tone !== 'good')
  const isTroubled = chains.length > 1 && troubled.length > 0
  const inOrder = isTroubled && `${chains.length - troubled.length} of ${chains.length} chains in order. `
  const links = troubled.map(
    ({ state, label, word }) => html`<li><a href="#chain-${state.chainId}">${label}: ${word}</a></li>`
  )
  // Of two, one that is not in order is easily seen.
  const isLong = isTroubled && chains.length > 2
  const named = isLong && html`<ul class="troubled" aria-label="Chains that are not in order">${links}</ul>`
  return html`${icon(tone)}<div><h1>${sentence}</h1>${reason && html`<p class="reason">${reason}</p>`}<p class="quiet">${inOrder}As of ${clock(nowSeconds)}. Up for ${duration(uptimeSeconds)}, version ${version}.</p>${named}</div>`
}

function renderChain(report: StatusReport, { state, label, tone, word, reason }: JudgedChain): Html {
  const problem = reason && html`<p class="problem">${reason}</p>`
  const content = 'label' in state ? evmFacts(state) : clusterFacts(state)
  return html`<article class="card" id="chain-${state.chainId}"><header><h3>${label}</h3><span class="badge ${tone}">${icon(tone)}${word}</span></header>${problem}${content}${renderChainCharts(report, state.chainId)}</article>`
}

/** Renders facts by name: `not known` for `undefined`, nothing for `false`. */
function facts(values: Readonly<Record<string, HtmlPart>>): Html {
  const shown = Object.entries(values).filter(([, value]) => value !== false)
  const unknown = html`<span class="quiet">not known</span>`
  return html`<dl>${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value ?? unknown}</dd></div>`)}</dl>`
}

function evmFacts(chain: EvmChainStatus): Html {
  const { phase, percent, nodes, waiting, lagSeconds = 0, lastReorg: reorg, poolAgeSeconds = 0 } = chain
  const server = `another server${chain.indexing === false ? '; this one only answers' : ' on the same store'}`
  // A silent node may be anywhere by now.
  const lagBlocks = phase === 'stalled' || phase === 'starting' ? undefined : chain.lagBlocks
  const lagTime = lagSeconds > 0 && `about ${duration(lagSeconds)}`
  const poolTime = poolAgeSeconds > 15 && `seen ${duration(poolAgeSeconds)} ago`
  const left = known(chain.etaSeconds, seconds => `, about ${duration(seconds)} left`)
  return facts({
    'First backfill': !chain.backfilled && percent !== undefined && html`${number(percent)} %${left}`,
    'Newest block': known(chain.head, number),
    'Block age': known(chain.headAgeSeconds, duration),
    'Indexed to': known(chain.indexedTo, number),
    Lag: known(lagBlocks, blocks => list([count(blocks, 'block'), lagTime])),
    Blocks: known(chain.blocksPerSecond, rate),
    Transactions: known(chain.transactionsPerSecond, rate),
    Pool: known(chain.poolTransactions, pending => list([html`${number(pending)} pending`, poolTime])),
    Nodes: nodes && `${nodes.inService} of ${nodes.total} in service`,
    'Indexed by': waiting === true && server,
    'Index on disk': known(chain.storeBytes, bytes) ?? false,
    'Free on disk': known(chain.freeBytes, bytes) ?? false,
    'Last reorg': reorg !== undefined && html`${count(reorg.blocks, 'block')} at ${clock(reorg.atSeconds)}`,
    Damaged: known(chain.integrity?.damaged || undefined, number) ?? false,
    Backfill: known(chain.backfill, ({ blocksLeft }) => html`${count(blocksLeft, 'block')} to go`) ?? false
  })
}

function clusterFacts({ head, headAgeSeconds, answeredSecondsAgo }: StatusReport['solana'][number]): Html {
  return facts({
    'Newest slot': known(head, number),
    'Slot age': known(headAgeSeconds, duration),
    'Last answer': known(answeredSecondsAgo, seconds => `${duration(seconds)} ago`),
    Index: 'none: read live'
  })
}

function renderServer({ server }: StatusReport): Html {
  const refused = Object.entries(server.refusals).map(([reason, times]) => html`${number(times)} ${reason}`)
  return facts({
    Calls: known(server.callsPerSecond, rate),
    'Under way': count(server.inFlight, 'request'),
    Memory: bytes(server.memory.rssBytes),
    Refused: refused.length > 0 && list(refused)
  })
}

const rate = (perSecond: number): Html => html`${short(perSecond)} a second`

function icon(tone: Tone): Html {
  return html`<svg class="icon ${tone}" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="7"/><path d="${icons[tone]}"/></svg>`
}
