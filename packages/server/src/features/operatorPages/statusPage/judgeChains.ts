import { lowSpaceBytes } from '../../../platform/figures.ts'
import { bytes, clock, count, duration, type HtmlPart, html, known, list, number } from './html.ts'
import type { EvmChainStatus, StatusReport } from './StatusReport.ts'

/** Also the name of an icon and of a colour; each is said in a word beside it. */
export type Tone = 'good' | 'waiting' | 'bad'

/** A judgement in one word, and in one sentence without a full stop. */
interface Verdict {
  readonly tone: Tone
  readonly word: string
  readonly sentence: HtmlPart
  /** The reason, in the server's words. */
  readonly reason?: string | undefined
}

/** A chain or cluster of the report, judged. */
export interface JudgedChain extends Verdict {
  readonly state: EvmChainStatus | StatusReport['solana'][number]
  readonly label: string
}

/** Blocks that a following index may be behind and still be called in sync. */
export const usualLagBlocks = 5
const order: readonly Tone[] = ['bad', 'waiting', 'good']

/** Judges every chain. Returns the worst first, and equally good ones in the order of the configuration. */
export function judgeChains({ evm, solana }: StatusReport): readonly JudgedChain[] {
  const chains = [...evm, ...solana].map(state => {
    const label = 'label' in state ? state.label : `Solana cluster ${state.chainId}`
    const [tone, word, sentence, reason] = 'label' in state ? judgeEvmChain(state) : judgeCluster(state)
    return { state, label, tone, word, sentence: html`${label} ${sentence}`, reason: reason?.slice(0, 300) }
  })
  return chains.toSorted((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone))
}

type Judgement = readonly [tone: Tone, word: string, predicate: HtmlPart, reason?: string | undefined]
/** Judges one EVM chain by what is most pressing. */
function judgeEvmChain(chain: EvmChainStatus): Judgement {
  const { phase, rollingBackTo, lagBlocks, headBelowIndexBlocks: below, problem, freeBytes } = chain
  const since = known(chain.stalledSinceSeconds, at => html`, since ${clock(at)}`)
  const left = known(chain.etaSeconds, seconds => `, about ${duration(seconds)} left`)
  const done = known(chain.percent, percent => html`: ${number(percent)} %`)
  const behind = known(lagBlocks, blocks => html`: ${count(blocks, 'block')} behind`)
  if (rollingBackTo !== undefined) {
    const target = rollingBackTo < 0 ? 'before its first block' : html`to block ${number(rollingBackTo)}`
    return ['waiting', 'Going back', html`was reorganised and goes back ${target}`]
  }
  if (phase === 'stalled') return ['bad', 'Stalled', html`has stalled${since}`, problem]
  if (phase === 'starting') {
    const heard = chain.indexing === false ? 'a word of the server that indexes it' : 'its node'
    return ['waiting', 'Waiting', `waits for ${heard}`, problem]
  }
  if (!chain.backfilled) return ['waiting', 'Indexing', html`is still indexing${done}${left}`]
  if (below !== undefined) {
    return ['bad', 'Node went back', html`has a node whose head is ${count(below, 'block')} below the index`]
  }
  if (chain.degraded) return ['bad', 'Degraded', 'is degraded: final blocks were replaced', problem]
  if (phase === 'backfilling' || (lagBlocks ?? 0) > usualLagBlocks) {
    return ['waiting', 'Behind', html`is catching up${behind}${left}`]
  }
  if (!chain.ready) return ['bad', 'Refusing', 'refuses histories', problem]
  if (freeBytes === undefined || freeBytes >= lowSpaceBytes) return ['good', 'In sync', 'is in sync']
  const space = html`is in sync, and little space is left on its disk: ${bytes(freeBytes)}`
  return ['waiting', 'Little space', space]
}

/** Judges whether the node of a Solana cluster answers. */
function judgeCluster({ phase, problem }: StatusReport['solana'][number]): Judgement {
  if (phase === 'following') return ['good', 'Answers', 'answers']
  if (phase === 'starting') return ['waiting', 'Asking', 'is being asked']
  return ['bad', 'Silent', 'does not answer', problem]
}

/** Judges the server by its worst chain. */
export function judgeServer(report: StatusReport): Verdict {
  const { server, evm, solana } = report
  const closing = 'The server is shutting down: answers under way are finished, new calls are refused'
  if (server.closing) return { tone: 'waiting', word: 'Closing', sentence: closing }
  const chains = judgeChains(report)
  const [worst, last] = [chains[0], chains.at(-1)]
  if (worst === undefined) return { tone: 'waiting', word: 'No chains', sentence: 'No chain is served' }
  if (chains.length === 1 || worst.tone !== 'good') return worst
  const inSync = evm.length > 1 ? `All ${evm.length} chains are in sync` : worst.sentence
  const answers = solana.length > 1 ? `${solana.length} Solana clusters answer` : last?.sentence
  return { ...worst, sentence: list([evm.length > 0 && inSync, solana.length > 0 && answers]) }
}
