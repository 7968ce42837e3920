import { Worker } from 'node:worker_threads'
import type { StoreLocation } from '@chain-data/index'
import { StoreUnavailableError } from '@chain-data/index'
import type { Logger } from '../../../platform/logger.ts'
import { findThreadEntry } from '../../../server/threads/findThreadEntry.ts'
import { unpackError } from '../../../server/threads/sentErrors.ts'
import type { PartOrder, ReplayedPart } from './readPart.ts'

/** Messages to the thread that replays; `id` numbers its orders. */
export interface ToReplayer {
  readonly id: number
  readonly chainId: number
  readonly location: StoreLocation
  readonly order: PartOrder
}

/** Messages of that thread. */
export type FromReplayer =
  | { readonly id: number; readonly part: ReplayedPart }
  | { readonly id: number; readonly failure: unknown }

/** Replays logs of changes in a thread of its own. */
export interface Replayer {
  /**
   * Replays the log of a chain for one turn, as `readPart` does.
   * @throws {StoreUnavailableError} the thread has ended meanwhile: the next order starts another one.
   */
  replay(chainId: number, order: PartOrder): Promise<ReplayedPart>
  close(): Promise<void>
}

/** The thread is started by the first order. */
export function createReplayer({
  locationOf,
  logger
}: {
  readonly locationOf: (chainId: number) => StoreLocation
  readonly logger: Logger
}): Replayer {
  const waiting = new Map<number, { resolve(part: ReplayedPart): void; reject(error: unknown): void }>()
  let lastId = 0
  let thread: Worker | undefined

  function start(): Worker {
    const worker = new Worker(findThreadEntry('live/replayThread', import.meta.url), { name: 'replay' })
    worker.on('message', (message: FromReplayer) => {
      const one = waiting.get(message.id)
      waiting.delete(message.id)
      if ('part' in message) one?.resolve(message.part)
      else one?.reject(unpackError(message.failure))
    })
    worker.on('error', error => logger.error('a thread that replays changes crashed', { error }))
    worker.once('exit', () => {
      if (thread === worker) thread = undefined
      for (const { reject } of waiting.values()) {
        reject(new StoreUnavailableError('the thread that replays changes has ended; expected it to run'))
      }
      waiting.clear()
    })
    worker.unref()
    return worker
  }

  return {
    replay(chainId, order) {
      thread ??= start()
      const id = ++lastId
      thread.postMessage({ id, chainId, location: locationOf(chainId), order } satisfies ToReplayer)
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    async close() {
      await thread?.terminate()
    }
  }
}
