import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { withDeadline } from '../../platform/concurrency/deadline.ts'
import type { Logger } from '../../platform/logger.ts'
import { findThreadEntry } from '../threads/findThreadEntry.ts'

/** Threads of one kind that the chains of a server share. */
export interface Threads {
  /** Threads at the same time, at most. */
  readonly most: number
  /**
   * Connects to a new thread, or to the one with the fewest connections once there are as many threads as there may be.
   * @returns the end of a connection, for `connectWriter` or `connectDecoder` in one indexer's thread.
   */
  connect(): ThreadEnd
}

export interface ThreadEnd {
  readonly port: MessagePort
  /**
   * The thread that had `port` needs it no more. The thread at its other end ends with its last connection: one that writes
   * finishes what it is writing; if it does not within a second it is ended in the middle, which its engines undo.
   */
  release(): Promise<void>
}

interface Thread {
  readonly worker: Worker
  readonly ended: Promise<void>
  connections: number
}

/** Messages to a shared thread. */
export type ToSharedThread =
  /** Serves one more chain, until the other end of the port is closed. */
  | { readonly kind: 'serve'; readonly port: MessagePort }
  /** Ends once all ports are closed. */
  | { readonly kind: 'end' }

/** Kinds of shared threads, with what each does, for the log. */
const tasks = { writer: 'writes stores', decoder: 'decodes blocks' } as const

/** Each thread that writes takes some 15 MB; most hosts have fewer chains than this. */
export const maxWriters = 8
const endDeadlineMs = 1_000

/**
 * @param options.most - threads at the same time.
 * @param options.entry - the built file of the thread, for hosts that bundle this package and move files about.
 */
export function createThreads(
  kind: keyof typeof tasks,
  { logger, most, entry }: { readonly logger: Logger; readonly most: number; readonly entry?: URL }
): Threads {
  /** Those that can take chains: neither crashed nor about to end. */
  const threads: Thread[] = []

  function leave(thread: Thread): void {
    const place = threads.indexOf(thread)
    if (place >= 0) threads.splice(place, 1)
  }

  function start(): Thread {
    const worker = new Worker(findThreadEntry(`indexer/${kind}Thread`, import.meta.url, entry), {
      name: kind
    })
    worker.on('error', error => {
      leave(thread)
      logger.error(`a thread that ${tasks[kind]} crashed`, { component: 'indexer', error })
    })
    const ended = new Promise<void>(resolve => {
      worker.once('exit', () => {
        leave(thread)
        resolve()
      })
    })
    const thread: Thread = { worker, ended, connections: 0 }
    threads.push(thread)
    return thread
  }

  function choose(): Thread {
    if (threads.length < most) return start()
    return threads.reduce((least, thread) => (thread.connections < least.connections ? thread : least))
  }

  async function end(thread: Thread): Promise<void> {
    leave(thread)
    // A thread that decodes has nothing to finish.
    if (kind === 'decoder') {
      await thread.worker.terminate()
      return
    }
    thread.worker.postMessage({ kind: 'end' } satisfies ToSharedThread)
    await withDeadline({ timeoutMs: endDeadlineMs }, () => thread.ended).catch(() => {
      logger.error('a thread that writes stores does not stop and is ended', { component: 'indexer' })
      return thread.worker.terminate()
    })
    await thread.ended
  }

  return {
    most,
    connect() {
      const thread = choose()
      thread.connections++
      const { port1, port2 } = new MessageChannel()
      thread.worker.postMessage({ kind: 'serve', port: port2 } satisfies ToSharedThread, [port2])
      return {
        port: port1,
        async release() {
          thread.connections--
          if (thread.connections === 0) await end(thread)
        }
      }
    }
  }
}
