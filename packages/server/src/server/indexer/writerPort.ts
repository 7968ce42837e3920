import type { MessagePort } from 'node:worker_threads'
import {
  type ChainIdentity,
  type FencedWriter,
  StoreError,
  type StoreLocation,
  type StoreWriter,
  type StoreWriterOptions
} from '@chain-data/index'
import { buffersOf } from '@chain-data/index/record'
import { packError, unpackError } from '../threads/sentErrors.ts'

/** Methods of an open writer. */
type WriterMethod = keyof StoreWriter

/** Asks for the writer; answered once it is open. */
interface OpenCall {
  readonly call: 'open'
  readonly location: StoreLocation
  readonly identity: ChainIdentity
  readonly options: Pick<
    StoreWriterOptions,
    'lockWaitMs' | 'keepsOtherAside' | 'mustExist' | 'changeLogBlocks'
  >
}

type MethodCall = {
  readonly [Name in WriterMethod]: { readonly call: Name; readonly args: Parameters<StoreWriter[Name]> }
}[WriterMethod]

/** Calls that get an answer. */
type Question = OpenCall | MethodCall

/** Messages to the thread of a writer. `id` numbers the calls of one port. */
type ToWriter =
  | (Question & { readonly id: number })
  /** The caller of `open` no longer waits. */
  | { readonly call: 'stopOpening' }

/** Messages of that thread: one answer to every call, and events of an opening. */
type FromWriter =
  | { readonly fenced: FencedWriter }
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: unknown }

/** A store's writer that lives in another thread. */
export interface WriterConnection {
  /**
   * The same as `openStoreWriter`, over there. `commitBlocks` and `prependBlocks` hand their buffers over: the caller's are empty afterwards.
   * @throws {StoreError} also when the thread has ended.
   */
  open(location: StoreLocation, identity: ChainIdentity, options?: StoreWriterOptions): Promise<StoreWriter>
  /** Ends the connection; a writer that is still open is closed over there. */
  close(): void
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** @param port - the other end of the one that `serveWriter` was given. */
export function connectWriter(port: MessagePort): WriterConnection {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let onFenced: StoreWriterOptions['onFenced']
  let isClosed = false

  port.on('message', (message: FromWriter) => {
    if ('fenced' in message) {
      onFenced?.(message.fenced)
      return
    }
    const asked = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.ok) asked?.resolve(message.value)
    else asked?.reject(unpackError(message.error))
  })
  port.on('close', () => {
    isClosed = true
    for (const { reject } of waiting.values()) reject(threadGone())
    waiting.clear()
  })

  function ask(question: Question, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    if (isClosed) return Promise.reject(threadGone())
    const id = ++lastId
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      port.postMessage({ ...question, id } satisfies ToWriter, transfer)
    })
  }

  function createWriter(): StoreWriter {
    let closed: Promise<void> | undefined

    function call<Name extends WriterMethod>(name: Name, transfer: readonly ArrayBuffer[] = []) {
      return (...args: Parameters<StoreWriter[Name]>) => {
        // The port may be with the next writer by now.
        const answer =
          closed === undefined
            ? ask({ call: name, args } as Question, transfer)
            : Promise.reject(new StoreError('the store is closed'))
        return answer as ReturnType<StoreWriter[Name]>
      }
    }

    return {
      state: call('state'),
      commitBlocks: (blocks, options) => call('commitBlocks', buffersOf(blocks))(blocks, options),
      prependBlocks: blocks => call('prependBlocks', buffersOf(blocks))(blocks),
      replaceBlock: block => call('replaceBlock', buffersOf(block))(block),
      repair: call('repair'),
      takeDamage: call('takeDamage'),
      dropPool: call('dropPool'),
      dropChanges: call('dropChanges'),
      coversTraces: call('coversTraces'),
      blockRef: call('blockRef'),
      rollbackTo: call('rollbackTo'),
      rollbackAll: call('rollbackAll'),
      markBackfilled: call('markBackfilled'),
      markSettled: call('markSettled'),
      markFinal: call('markFinal'),
      updatePool: call('updatePool'),
      report: call('report'),
      close() {
        closed ??= call('close')()
        return closed
      }
    }
  }

  return {
    async open(location, identity, { signal, onFenced: report, ...options } = {}) {
      signal?.throwIfAborted()
      onFenced = report
      const stopOpening = () => port.postMessage({ call: 'stopOpening' } satisfies ToWriter)
      signal?.addEventListener('abort', stopOpening)
      try {
        await ask({ call: 'open', location, identity, options })
        return createWriter()
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      } finally {
        signal?.removeEventListener('abort', stopOpening)
      }
    },
    close: () => port.close()
  }
}

function threadGone(): StoreError {
  return new StoreError('the thread that writes the store has ended; expected it to run')
}

type OpenWriter = (
  location: StoreLocation,
  identity: ChainIdentity,
  options: StoreWriterOptions
) => Promise<StoreWriter>

/**
 * Opens a store's writer and does what the other end of `port` (`connectWriter`) asks of it. One writer at a time; after
 * its `close` another one may be asked for. When the other end is gone, the writer is closed.
 */
export function serveWriter(port: MessagePort, openWriter: OpenWriter): void {
  let writer: StoreWriter | undefined
  let isGone = false
  let opening = new AbortController()

  async function open({ location, identity, options }: OpenCall): Promise<void> {
    opening = new AbortController()
    const opened = await openWriter(location, identity, {
      ...options,
      signal: opening.signal,
      onFenced: fenced => tell({ fenced })
    })
    // Nobody would ever close it.
    if (isGone) await opened.close()
    else writer = opened
  }

  async function answer(call: Exclude<ToWriter, { readonly call: 'stopOpening' }>): Promise<unknown> {
    if (call.call === 'open') return open(call)
    if (writer === undefined) throw new StoreError('the store is closed')
    const asked = writer
    if (call.call === 'close') writer = undefined
    return Reflect.apply(asked[call.call], asked, call.args)
  }

  const tell = (message: FromWriter) => port.postMessage(message)
  port.on('message', (message: ToWriter) => {
    if (message.call === 'stopOpening') {
      opening.abort(new Error('the writer is no longer wanted'))
      return
    }
    answer(message).then(
      value => tell({ id: message.id, ok: true, value }),
      error => tell({ id: message.id, ok: false, error: packError(error) })
    )
  })
  port.on('close', () => {
    isGone = true
    opening.abort(new Error('whoever asked for the writer has ended'))
    // What it was asked before comes first, in every engine.
    writer?.close().catch(() => undefined)
  })
}
