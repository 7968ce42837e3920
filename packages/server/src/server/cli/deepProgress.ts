import type { CheckedPiece } from '@chain-data/index'
import { plural } from '../../platform/plural.ts'
import { createRate } from './rate.ts'
import { clearRest, formatDuration } from './terminal.ts'

/** Shows how far the check of each whole index is: in one line of a terminal, or else in one every ten seconds and at the end. */
export function createDeepProgress(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
  now: () => number = () => performance.now()
): (chainId: number, piece: CheckedPiece) => void {
  const begin = (chainId: number) => {
    return { chainId, checked: 0, ms: now(), blocks: createRate(), share: createRate() }
  }
  let shown = begin(0)
  return (chainId, { blocks, allBlocks, done }) => {
    const nowMs = now()
    if (shown.chainId !== chainId) shown = begin(chainId)
    shown.checked += blocks
    shown.blocks.note(nowMs, shown.checked)
    shown.share.note(nowMs, done)
    const isEnd = done === 1
    if (!isEnd && nowMs - shown.ms < (stream.isTTY ? 100 : 10_000)) return
    shown.ms = nowMs
    const [speed = 0, pace = 0] = isEnd ? [] : [shown.blocks.perSecond(), shown.share.perSecond()]
    const line = [
      `chain ${chainId}: ${Math.floor(100 * done)} % checked, ${shown.checked} of ${plural(allBlocks, 'block')}`,
      ...(speed > 0 ? [`${speed.toFixed(1)} blocks/s`] : []),
      ...(pace > 0 ? [`${formatDuration((1 - done) / pace)} left`] : [])
    ].join(', ')
    stream.write(stream.isTTY ? `\r${line}${clearRest}${isEnd ? '\n' : ''}` : `${line}\n`)
  }
}
