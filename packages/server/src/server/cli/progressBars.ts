import type { SyncStatus } from '@chain-data/index'
import { MultiBar, type SingleBar } from 'cli-progress'
import { nameNodes } from '../../platform/nameNodes.ts'
import { createRate } from './rate.ts'
import { type ChainWords, formatDuration, oneLine } from './terminal.ts'

/** Bars on a terminal, one for each chain that is not followed yet. They go when there is nothing left to show. */
export interface ProgressBars {
  /** Brings the bars up to date with what `statuses` says now. */
  draw(): void
  /** Writes a log line above the bars, so that neither tears the other. */
  writeLine(line: string): void
  /** Takes the bars away for good and gives the cursor back. */
  stop(): void
}

const longestText = 60

/**
 * @param options.stream - the terminal; what is no terminal shows nothing.
 * @param options.writeBelow - writes a log line while no bar is shown.
 */
export function createProgressBars(options: {
  readonly stream: NodeJS.WriteStream
  readonly statuses: () => readonly SyncStatus[]
  readonly writeBelow: (line: string) => void
  readonly chains: ReadonlyMap<number, ChainWords>
  readonly now?: () => number
}): ProgressBars {
  const { stream, statuses, writeBelow, chains, now = () => performance.now() } = options
  const rates = new Map<number, ReturnType<typeof createRate>>()
  let shown = new Map<number, SingleBar>()
  let bars: MultiBar | undefined
  let isStopped = false

  function close(): void {
    bars?.stop()
    bars = undefined
    shown = new Map()
  }

  /** The library leaves an empty line for each bar that is removed: another set of chains gets a new set of bars. */
  function open(chainIds: readonly number[]): MultiBar {
    const opened = new MultiBar({
      stream,
      format: '{chain} [{bar}] {percentage}% {text}',
      barsize: 24,
      barCompleteChar: '#',
      barIncompleteChar: '.',
      hideCursor: true,
      clearOnComplete: true,
      // Long log lines go on in the next line; the library cuts the bars.
      linewrap: true,
      // A log line may have written over it.
      forceRedraw: true,
      gracefulExit: false,
      emptyOnZero: true
    })
    const text = ''
    shown = new Map(
      chainIds.map(chainId => [chainId, opened.create(1, 0, { chain: `chain ${chainId}`, text })])
    )
    return opened
  }

  function drawChain(status: SyncStatus, bar: SingleBar): void {
    const { chainId, head, indexedFrom, indexedTo } = status
    const first = isBackfilling(status) ? (status.startBlock ?? indexedFrom) : indexedFrom
    const done = indexedTo === undefined ? 0 : indexedTo.number - indexedFrom + 1
    const total = head === undefined ? 1 : Math.max(1, head - first + 1)
    const rate = rates.get(chainId) ?? createRate()
    rates.set(chainId, rate)
    rate.note(now(), done)
    bar.setTotal(total)
    const words = chains.get(chainId)
    bar.update(Math.min(done, total), { text: describe(status, rate.perSecond(), total - done, words) })
  }

  return {
    draw() {
      if (isStopped) return
      const wanted = statuses().filter(status => status.phase !== 'following' || isBackfilling(status))
      const ids = wanted.map(({ chainId }) => chainId)
      if (ids.join() !== [...shown.keys()].join()) {
        close()
        if (ids.length > 0) bars = open(ids)
      }
      for (const status of wanted) {
        const bar = shown.get(status.chainId)
        if (bar !== undefined) drawChain(status, bar)
      }
    },
    writeLine(line) {
      if (bars === undefined) writeBelow(line)
      else {
        bars.log(line)
        bars.update()
      }
    },
    stop() {
      isStopped = true
      close()
    }
  }
}

/** Reports whether blocks older than the index are being added. */
function isBackfilling({ phase, indexedFrom, startBlock = indexedFrom }: SyncStatus): boolean {
  return phase === 'following' && indexedFrom > startBlock
}

/** Words the state of a chain: its speed and the time left, or why it waits. */
function describe(
  { phase, rollingBackTo, head, indexedFrom, indexedTo, startBlock, problem, backfillProblem }: SyncStatus,
  blocksPerSecond: number | undefined,
  left: number,
  words: ChainWords | undefined
): string {
  if (rollingBackTo !== undefined) return `going back to block ${rollingBackTo}`
  if (phase === 'stalled') return cut(nameNodes(`stalled: ${problem ?? 'no reason given'}`, words?.hosts))
  if (phase === 'starting' || head === undefined)
    return `connecting to ${words?.hosts.join(', ') ?? 'the node'}`
  if (phase === 'following' && backfillProblem !== undefined)
    return cut(nameNodes(backfillProblem, words?.hosts))
  const upwards = indexedTo === undefined ? `0 of ${head}` : `${indexedTo.number} of ${head}`
  const place = phase === 'following' ? `${indexedFrom} back to ${startBlock}` : upwards
  if (blocksPerSecond === undefined || blocksPerSecond <= 0) return place
  return `${place} ${blocksPerSecond.toFixed(1)} blocks/s ETA ${formatDuration(left / blocksPerSecond)}`
}

function cut(text: string): string {
  const plain = oneLine(text)
  return plain.length <= longestText ? plain : `${plain.slice(0, longestText)}…`
}
