import type { CheckedPiece } from '../../index/walkIndex.ts'
import { createRate } from './rate.ts'
import { clearRest, formatDuration } from './terminal.ts'

/** Interval of the line on a terminal, and of lines elsewhere. */
const redrawMs = 100
const lineMs = 10_000

/**
 * Shows how far the check of whole indexes is, one after the other: in one line of a terminal, which stays, or else in a line
 * from time to time and one at the end of each.
 */
export function createDeepProgress(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
  now: () => number = () => performance.now()
): (chainId: number, piece: CheckedPiece) => void {
  let shown: { readonly chainId: number; checked: number; ms: number } | undefined
  let [blockRate, shareRate] = [createRate(), createRate()]

  return (chainId, { blocks, allBlocks, done }) => {
    const nowMs = now()
    if (shown?.chainId !== chainId) {
      shown = { chainId, checked: 0, ms: nowMs }
      blockRate = createRate()
      shareRate = createRate()
    }
    shown.checked += blocks
    blockRate.note(nowMs, shown.checked)
    shareRate.note(nowMs, done)
    const isEnd = done === 1
    if (!isEnd && nowMs - shown.ms < (stream.isTTY ? redrawMs : lineMs)) return
    shown.ms = nowMs
    const [speed = 0, pace = 0] = [blockRate.perSecond(), shareRate.perSecond()]
    const line = [
      `chain ${chainId}: ${Math.floor(100 * done)} % checked, ${shown.checked} of ${allBlocks} blocks`,
      ...(speed > 0 && !isEnd ? [`${speed.toFixed(1)} blocks/s`] : []),
      ...(pace > 0 && !isEnd ? [`${formatDuration((1 - done) / pace)} left`] : [])
    ].join(', ')
    stream.write(stream.isTTY ? `\r${line}${clearRest}` : `${line}\n`)
  }
}
