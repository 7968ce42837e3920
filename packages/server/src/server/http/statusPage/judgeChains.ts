import { lowSpaceBytes } from '../../../platform/figures.ts'
import { bytes, clock, count, decimal, duration, type Html, html, number } from './html.ts'
import type { EvmChainStatus, StatusReport } from './StatusReport.ts'

/** Also the name of an icon and of a colour; each is said in a word beside it. */
export type Tone = 'good' | 'waiting' | 'bad'

/** A judgement in one word, and in one sentence without a full stop. */
interface Verdict {
  readonly tone: Tone
  readonly word: string
  readonly sentence: Html
  /** The reason, in the server's words. */
  readonly reason?: string
}

/** The server's own texts are not longer. */
const maxReasonLength = 300
/** Blocks that a following index may be behind and still be called in sync. */
const usualLagBlocks = 5

/** Judges one EVM chain by what is most pressing. */
function judgeEvmChain(chain: EvmChainStatus): Verdict {
  const name = chain.label
  const { phase, rollingBackTo, lagBlocks, stalledSinceSeconds, percent, etaSeconds, problem, freeBytes } =
    chain
  const left = etaSeconds !== undefined && `, about ${duration(etaSeconds)} left`
  if (rollingBackTo !== undefined) {
    const target = rollingBackTo < 0 ? 'before its first block' : html`to block ${number(rollingBackTo)}`
    return verdict('waiting', 'Going back', html`${name} was reorganised and goes back ${target}`)
  }
  if (phase === 'stalled') {
    const since = stalledSinceSeconds !== undefined && html`, since ${clock(stalledSinceSeconds)}`
    return verdict('bad', 'Stalled', html`${name} has stalled${since}`, problem)
  }
  if (phase === 'starting') {
    const heard = chain.indexing === false ? 'a word of the server that indexes it' : 'its node'
    return verdict('waiting', 'Waiting', html`${name} waits for ${heard}`, problem)
  }
  if (!chain.backfilled) {
    const done = percent !== undefined && html`: ${decimal(percent)} %`
    return verdict('waiting', 'Indexing', html`${name} is still indexing${done}${left}`)
  }
  if (chain.headBelowIndexBlocks !== undefined) {
    const below = count(chain.headBelowIndexBlocks, 'block')
    return verdict('bad', 'Node went back', html`${name}: the head of its node is ${below} below the index`)
  }
  if (chain.degraded) {
    return verdict('bad', 'Degraded', html`${name} is degraded: final blocks were replaced`, problem)
  }
  if (phase === 'backfilling' || (lagBlocks ?? 0) > usualLagBlocks) {
    const behind = lagBlocks !== undefined && html`: ${count(lagBlocks, 'block')} behind`
    return verdict('waiting', 'Behind', html`${name} is catching up${behind}${left}`)
  }
  if (!chain.ready) return verdict('bad', 'Refusing', html`${name} refuses histories`, problem)
  if (freeBytes !== undefined && freeBytes < lowSpaceBytes) {
    const left = html`little space is left on its disk: ${bytes(freeBytes)}`
    return verdict('waiting', 'Little space', html`${name} is in sync, and ${left}`)
  }
  return verdict('good', 'In sync', html`${name} is in sync`)
}

/** Judges whether the node of a Solana cluster answers. */
function judgeSolanaCluster({ chainId, phase, problem }: StatusReport['solana'][number]): Verdict {
  const name = html`Solana cluster ${chainId}`
  if (phase === 'following') return verdict('good', 'Answers', html`${name} answers`)
  if (phase === 'starting') return verdict('waiting', 'Asking', html`${name} is being asked`)
  return verdict('bad', 'Silent', html`${name} does not answer`, problem)
}

/** The one line that the page exists for, and which details are worth a second one. */
export interface Answer extends Verdict {
  readonly more?: string
  /** Chains that are not in order, in the order of the page; absent where all chains are easily seen. */
  readonly troubled?: readonly { readonly chainId: number; readonly words: string }[]
}

/** A chain or cluster of the report with its verdict. */
export interface JudgedChain {
  readonly chainId: number
  readonly label: string
  readonly verdict: Verdict
  /** Absent for a Solana cluster. */
  readonly evm?: EvmChainStatus
  readonly solana?: StatusReport['solana'][number]
}

/** With more chains than this, one that is not in order may be far down the page. */
const easilySeen = 2
const order: readonly Tone[] = ['bad', 'waiting', 'good']

/** Judges every chain. Returns the worst first, and equally good ones in the order of the configuration. */
export function judgeChains({ evm, solana }: Pick<StatusReport, 'evm' | 'solana'>): readonly JudgedChain[] {
  const chains: JudgedChain[] = [
    ...evm.map(chain => ({
      ...{ chainId: chain.chainId, label: chain.label, verdict: judgeEvmChain(chain) },
      evm: chain
    })),
    ...solana.map(cluster => ({
      ...{ chainId: cluster.chainId, label: `Solana cluster ${cluster.chainId}` },
      ...{ verdict: judgeSolanaCluster(cluster), solana: cluster }
    }))
  ]
  return chains.toSorted((a, b) => order.indexOf(a.verdict.tone) - order.indexOf(b.verdict.tone))
}

/** Judges the server by its worst chain. */
export function judgeServer({ server, evm, solana }: StatusReport): Answer {
  if (server.closing) {
    const sentence = html`The server is shutting down: answers under way are finished, new calls are refused`
    return verdict('waiting', 'Closing', sentence)
  }
  const chains = judgeChains({ evm, solana })
  const worst = chains[0]?.verdict
  if (worst === undefined) return verdict('waiting', 'No chains', html`No chain is served`)
  if (worst.tone === 'good') {
    return verdict('good', evm.length > 0 ? 'In sync' : 'Answers', praise(evm, solana))
  }
  if (chains.length === 1) return worst
  const troubled = chains
    .filter(({ verdict }) => verdict.tone !== 'good')
    .map(({ chainId, label, verdict }) => ({ chainId, words: `${label}: ${verdict.word}` }))
  const more = `${chains.length - troubled.length} of ${chains.length} chains in order.`
  return { ...worst, more, ...(chains.length > easilySeen ? { troubled } : {}) }
}

function praise(evm: StatusReport['evm'], solana: StatusReport['solana']): Html {
  const [chain, cluster] = [evm[0], solana[0]]
  const chains = evm.length === 1 ? `${chain?.label} is in sync` : `All ${evm.length} chains are in sync`
  const clusters =
    solana.length === 1
      ? `Solana cluster ${cluster?.chainId} answers`
      : `${solana.length} Solana clusters answer`
  return html`${[chain && chains, chain && cluster && ', ', cluster && clusters]}`
}

function verdict(tone: Tone, word: string, sentence: Html, reason?: string): Verdict {
  return {
    tone,
    word,
    sentence,
    ...(reason === undefined ? {} : { reason: reason.slice(0, maxReasonLength) })
  }
}
