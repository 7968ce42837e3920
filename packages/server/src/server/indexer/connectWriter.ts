import type { MessagePort } from 'node:worker_threads'
import type { StoreWriterOptions } from '../../index/openStoreWriter.ts'
import type { StoreLocation } from '../../index/parseStoreUrl.ts'
import type { ChainIdentity } from '../../index/port/status.ts'
import type { StoreWriter } from '../../index/port/writer.ts'
import { buffersOf } from '../../index/record/packBlocks.ts'
import { StoreError } from '../../platform/errors.ts'
import { unpackStoreError } from './sentStoreError.ts'
import type { FromWriter, Question, ToWriter, WriterMethod } from './writerCalls.ts'

/** A store's writer that lives in another thread. */
export interface WriterConnection {
  /**
   * The same as `openStoreWriter`, over there. `commitBlocks` hands its buffers over: the caller's are empty afterwards.
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
    else asked?.reject(unpackStoreError(message.error))
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
    async open(location, identity, { lockWaitMs, signal, ...told } = {}) {
      signal?.throwIfAborted()
      onFenced = told.onFenced
      const stopOpening = () => port.postMessage({ call: 'stopOpening' } satisfies ToWriter)
      signal?.addEventListener('abort', stopOpening)
      try {
        await ask({ call: 'open', location, identity, ...(lockWaitMs === undefined ? {} : { lockWaitMs }) })
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
