import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { withDeadline } from '../../platform/concurrency/deadline.ts'
import { ConfigError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'

/** The threads in which the stores of all chains are written: one for each chain, and shared from a number of chains on. */
export interface WriterThreads {
  /**
   * Starts a thread where there is none yet.
   * @returns the end of a connection, for `connectWriter` in one indexer's thread.
   */
  connect(): WriterEnd
}

interface WriterEnd {
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

/** Messages to a writer thread. */
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
    const worker = new Worker(findThreadEntry('writerThread', entry), { name: 'writer' })
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
    await withDeadline({ timeoutMs: endDeadlineMs }, () => thread.ended).catch(() => {
      logger.error('a thread that writes stores does not stop and is ended', { component: 'indexer' })
      return thread.worker.terminate()
    })
    await thread.ended
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
export function findThreadEntry(name: 'indexerThread' | 'writerThread', entry?: URL): URL {
  const places = [`./${name}.ts`, `./${name}.js`, `./indexer/${name}.js`, `../indexer/${name}.js`]
  const urls = places.map(place => new URL(place, import.meta.url))
  const found = entry ?? urls.find(url => existsSync(fileURLToPath(url)))
  if (found === undefined) {
    throw new ConfigError(`the file of a thread (indexer/${name}) is missing; expected it in the package`)
  }
  if (found.pathname.endsWith('.ts')) setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
  return found
}
