import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { withDeadline } from '../../platform/concurrency/deadline.ts'
import { ConfigError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'

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
    const worker = new Worker(findThreadEntry(`${kind}Thread`, entry), { name: kind })
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

/**
 * Finds the file of a worker thread of this folder. In the sources it lies beside this one. A bundler may put this module into a
 * chunk or an entry at the top of `dist`, or one folder below, while the thread stays an entry of its own:
 * `dist/indexer/<name>.js`.
 *
 * Threads that run from the sources: Node strips their types with WebAssembly, and V8 (Node 24.21) may end the process
 * when several threads compile its often made calls to JavaScript anew. So many calls are never reached.
 *
 * @param entry - the file, where the host has named it.
 * @throws {ConfigError} when there is no such file.
 */
export function findThreadEntry(name: 'indexerThread' | `${keyof typeof tasks}Thread`, entry?: URL): URL {
  const places = [`./${name}.ts`, `./${name}.js`, `./indexer/${name}.js`, `../indexer/${name}.js`]
  const urls = places.map(place => new URL(place, import.meta.url))
  const found = entry ?? urls.find(url => existsSync(fileURLToPath(url)))
  if (found === undefined) {
    throw new ConfigError(`the file of a thread (indexer/${name}) is missing; expected it in the package`)
  }
  if (found.pathname.endsWith('.ts')) setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
  return found
}
