import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Logger } from '../../platform/logger.ts'
import { findThreadEntry, keepWrappers } from './threadEntry.ts'

/** The threads in which the stores of all chains are written: one for each chain, and shared from a number of chains on. */
export interface WriterThreads {
  /**
   * Starts a thread where there is none yet.
   * @returns the end of a connection, for `connectWriter` in one indexer's thread.
   */
  connect(): WriterEnd
}

export interface WriterEnd {
  readonly port: MessagePort
  /**
   * The thread that had `port` is gone. A thread whose last chain that was finishes what it is writing and ends; one that
   * does not within a second is ended in the middle, which its engines undo.
   */
  release(): Promise<void>
}

interface Thread {
  readonly worker: Worker
  readonly ended: Promise<void>
  chains: number
}

/** What such a thread is told. */
export type ToWriterThread =
  /** Serves one more chain, until the other end of the port is closed. */
  | { readonly kind: 'serve'; readonly port: MessagePort }
  /** Ends once all ports are closed. */
  | { readonly kind: 'end' }

/** Each thread takes some 15 MB; most hosts have fewer chains than this. */
const mostThreads = 8
const endDeadlineMs = 1_000

/**
 * @param options.most - threads at the same time; 8.
 * @param options.entry - the built `writerThread` file, for hosts that bundle this package and move files about.
 */
export function createWriterThreads({
  logger,
  most = mostThreads,
  entry
}: {
  readonly logger: Logger
  readonly most?: number
  readonly entry?: URL
}): WriterThreads {
  /** Those that can take chains: neither crashed nor about to end. */
  const threads: Thread[] = []

  function leave(thread: Thread): void {
    const place = threads.indexOf(thread)
    if (place >= 0) threads.splice(place, 1)
  }

  function start(): Thread {
    const file = entry ?? findThreadEntry('writerThread')
    keepWrappers(file)
    const worker = new Worker(file, { name: 'writer' })
    worker.on('error', error => {
      leave(thread)
      logger.error('a thread that writes stores crashed', { component: 'indexer', error })
    })
    const ended = new Promise<void>(resolve => {
      worker.once('exit', () => {
        leave(thread)
        resolve()
      })
    })
    const thread: Thread = { worker, ended, chains: 0 }
    threads.push(thread)
    return thread
  }

  function choose(): Thread {
    if (threads.length < most) return start()
    return threads.reduce((least, thread) => (thread.chains < least.chains ? thread : least))
  }

  async function end(thread: Thread): Promise<void> {
    leave(thread)
    thread.worker.postMessage({ kind: 'end' } satisfies ToWriterThread)
    const overdue = setTimeout(() => {
      logger.error('a thread that writes stores does not stop and is ended', { component: 'indexer' })
      thread.worker.terminate().catch(() => undefined)
    }, endDeadlineMs)
    await thread.ended
    clearTimeout(overdue)
  }

  return {
    connect() {
      const thread = choose()
      thread.chains++
      const { port1, port2 } = new MessageChannel()
      thread.worker.postMessage({ kind: 'serve', port: port2 } satisfies ToWriterThread, [port2])
      return {
        port: port1,
        async release() {
          thread.chains--
          if (thread.chains === 0) await end(thread)
        }
      }
    }
  }
}
