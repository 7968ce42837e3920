import type { MessagePort } from 'node:worker_threads'
import type { StoreWriterOptions } from '../../index/openStoreWriter.ts'
import type { StoreLocation } from '../../index/parseStoreUrl.ts'
import type { ChainIdentity } from '../../index/port/status.ts'
import type { StoreWriter } from '../../index/port/writer.ts'
import { StoreError } from '../../platform/errors.ts'
import { packStoreError } from './sentStoreError.ts'
import type { FromWriter, OpenCall, ToWriter } from './writerCalls.ts'

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

  async function open({ location, identity, lockWaitMs }: OpenCall): Promise<void> {
    opening = new AbortController()
    const opened = await openWriter(location, identity, {
      signal: opening.signal,
      onFenced: fenced => tell({ fenced }),
      ...(lockWaitMs === undefined ? {} : { lockWaitMs })
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
      error => tell({ id: message.id, ok: false, error: packStoreError(error) })
    )
  })
  port.on('close', () => {
    isGone = true
    opening.abort(new Error('whoever asked for the writer has ended'))
    // What it was asked before comes first, in every engine.
    writer?.close().catch(() => undefined)
  })
}
