import type { EvmChainStatus, StatusReport } from '../StatusReport.ts'
import type { Format } from './createFormat.ts'

/** Also the name of an icon and of a colour; each is said in a word beside it. */
export type Tone = 'good' | 'waiting' | 'bad'

/** A judgement: how it is, in one word and in one sentence without a full stop. */
export interface Verdict {
  readonly tone: Tone
  readonly word: string
  readonly sentence: string
  /** Why, in the server's words. */
  readonly reason?: string
}

/** The server's own texts are not longer. */
const longestReason = 300

/** Blocks that a following index may be behind and still be called in sync. */
const usualLagBlocks = 5

/** What is so of one EVM chain, the most pressing first. */
export function judgeEvmChain(chain: EvmChainStatus, format: Format): Verdict {
  const name = `Chain ${chain.chainId}`
  const since =
    chain.stalledSinceSeconds === undefined ? '' : `, since ${format.clock(chain.stalledSinceSeconds)}`
  const { phase, rollingBackTo, lagBlocks } = chain
  if (rollingBackTo !== undefined) {
    const target = rollingBackTo < 0 ? 'before its first block' : `to block ${format.number(rollingBackTo)}`
    return waiting('Going back', `${name} was reorganised and goes back ${target}`)
  }
  if (phase === 'stalled') {
    return bad('Stalled', `${name} has stalled${since}`, chain.problem)
  }
  if (phase === 'starting') {
    const heard = chain.indexing === false ? 'a word of the server that indexes it' : 'its node'
    return waiting('Waiting', `${name} waits for ${heard}`, chain.problem)
  }
  if (!chain.ready) {
    const done = chain.percent === undefined ? '' : `: ${format.number(chain.percent, 1)} %`
    const left = chain.etaSeconds === undefined ? '' : `, about ${format.duration(chain.etaSeconds)} left`
    return waiting('Indexing', `${name} is still indexing${done}${left}`)
  }
  if (chain.degraded) {
    return bad('Degraded', `${name} is degraded: final blocks were replaced`, chain.problem)
  }
  if (phase === 'backfilling' || (lagBlocks ?? 0) > usualLagBlocks) {
    const behind = lagBlocks === undefined ? '' : `: ${format.count(lagBlocks, 'block')} behind`
    const left = chain.etaSeconds === undefined ? '' : `, about ${format.duration(chain.etaSeconds)} left`
    return waiting('Behind', `${name} is catching up${behind}${left}`)
  }
  return { tone: 'good', word: 'In sync', sentence: `${name} is in sync` }
}

/** Whether the node of a Solana cluster answers. */
export function judgeSolanaCluster({ chainId, phase, problem }: StatusReport['solana'][number]): Verdict {
  const name = `Solana cluster ${chainId}`
  if (phase === 'following') return { tone: 'good', word: 'Answers', sentence: `${name} answers` }
  if (phase === 'starting') return waiting('Asking', `${name} is being asked`)
  return bad('Silent', `${name} does not answer`, problem)
}

/** The one line that the page exists for, and what of the rest is worth a second one. */
export interface Answer extends Verdict {
  readonly more?: string
  /** Chains that are not as they should be, in the order of the page; absent where few chains are easily seen. */
  readonly troubled?: readonly { readonly chainId: number; readonly words: string }[]
}

/** With more of them, one that is not in order may be far down the page. */
const easilySeen = 2

const order: readonly Tone[] = ['bad', 'waiting', 'good']

/** Is everything as it should be? If not: the worst first. */
export function judgeServer(report: StatusReport, format: Format): Answer {
  if (report.server.closing) {
    return waiting(
      'Closing',
      'The server is shutting down: answers under way are finished, new calls are refused'
    )
  }
  const chains = [
    ...report.evm.map(chain => ({ chainId: chain.chainId, ...judgeEvmChain(chain, format) })),
    ...report.solana.map(cluster => ({ chainId: cluster.chainId, ...judgeSolanaCluster(cluster) }))
  ]
  const verdicts: readonly Verdict[] = chains
  const worst = [...verdicts].sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))[0]
  if (worst === undefined) return waiting('No chains', 'No chain is served')
  const fine = verdicts.filter(({ tone }) => tone === 'good').length
  if (worst.tone !== 'good') {
    if (chains.length === 1) return worst
    const troubled = chains
      .filter(({ tone }) => tone !== 'good')
      .map(({ chainId, word }) => ({ chainId, words: `${chainId}: ${word}` }))
    const more = `${fine} of ${chains.length} chains in order.`
    return { ...worst, more, ...(chains.length > easilySeen ? { troubled } : {}) }
  }
  return { tone: 'good', word: report.evm.length > 0 ? 'In sync' : 'Answers', sentence: praise(report) }
}

/** All is well, said of what there is. */
function praise({ evm, solana }: StatusReport): string {
  const [chain, cluster] = [evm[0], solana[0]]
  const chains =
    evm.length === 1 ? `Chain ${chain?.chainId} is in sync` : `All ${evm.length} chains are in sync`
  const clusters =
    solana.length === 1
      ? `Solana cluster ${cluster?.chainId} answers`
      : `${solana.length} Solana clusters answer`
  return [chain && chains, cluster && clusters].filter(part => part !== undefined).join(', ')
}

function waiting(word: string, sentence: string, reason?: string): Verdict {
  return verdict('waiting', word, sentence, reason)
}

function bad(word: string, sentence: string, reason?: string): Verdict {
  return verdict('bad', word, sentence, reason)
}

function verdict(tone: Tone, word: string, sentence: string, reason: string | undefined): Verdict {
  return { tone, word, sentence, ...(reason === undefined ? {} : { reason: reason.slice(0, longestReason) }) }
}
