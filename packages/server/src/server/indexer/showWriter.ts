import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredProgress } from './runIndexer.ts'
import { createWriterView, type WriterViewOptions } from './writerView.ts'

const lookEveryMs = 100

/**
 * While another process or thread writes the index: puts on the board what that one says, as `createWriterView` does.
 * @returns when `signal` is aborted; the board stays as it is then.
 */
export async function showWriter({
  peek,
  signal,
  ...view
}: Omit<WriterViewOptions, 'silentProblem'> & {
  peek(): Promise<StoredProgress | undefined>
  readonly signal: AbortSignal
}): Promise<void> {
  const show = createWriterView({
    ...view,
    silentProblem: `another process or thread holds the writer's lock of this chain, but has not said for more than ${view.silentAfterMs} ms how it stands`
  })
  while (!signal.aborted) {
    const stored = await peek()
    if (signal.aborted) return
    show(stored)
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined)
  }
}
