import { TransportError } from '../../../src/fetch.ts'
import type { HistoryClient } from '../../../src/history/index.ts'
import type { Sending } from '../../../src/sendCall.ts'
import type { HttpRequest, Transport } from '../../../src/transport.ts'
import { type ModelChain, rpcError } from './createModelChain.ts'

/** The streams of a service over the chain. The position of an event is the number of the version that it leads to. */
export function createModelStreams(chain: ModelChain, latencyMs = () => 0) {
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>()
  let oldest = 0
  let asked = 0

  const send: NonNullable<HistoryClient['send']> = async (_method, call, _params, adapt) => {
    asked++
    await new Promise(resolve => setTimeout(resolve, latencyMs()))
    const { signal, after } = call as typeof call & { readonly after: string }
    if (signal?.aborted) throw aborted()
    if (Number(after) < oldest) throw rpcError('CURSOR_EXPIRED')
    const response = new Response(createBody(Number(after)), {
      headers: { 'Content-Type': 'text/event-stream' }
    })
    const transport: Transport = async (_url, _request, _maxBytes, read) => {
      const text = await read?.(response, 2 ** 20)
      if (text === undefined) throw new Error('The answer was too large.')
      return { status: 200, text, header: () => {} }
    }
    const sent = adapt?.({ transport } as Sending).transport('', { body: '{}' } as HttpRequest, 0)
    const ended = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(aborted()))
    })
    try {
      return await Promise.race([sent, ended])
    } catch (error) {
      if (error instanceof TransportError) throw error
      throw new TransportError('broken', { code: 'NETWORK', retryable: true })
    }
  }

  function createBody(after: number): ReadableStream<Uint8Array> {
    let position = after
    let tell = () => {}
    let own: ReadableStreamDefaultController<Uint8Array> | undefined
    let beat: ReturnType<typeof setInterval> | undefined
    const leave = () => {
      clearInterval(beat)
      chain.listeners.delete(tell)
      if (own) open.delete(own)
    }
    return new ReadableStream({
      start(controller) {
        own = controller
        const say = (event: object) =>
          controller.enqueue(new TextEncoder().encode(`id: ${position}\ndata: ${JSON.stringify(event)}\n\n`))
        tell = () => {
          if (!open.has(controller)) return leave()
          while (position < chain.versions.length - 1) {
            position++
            say({ kind: 'added', addresses: [], record: {} })
          }
          say({ kind: 'synced', head: { blockNumber: chain.head() } })
        }
        open.add(controller)
        chain.listeners.add(tell)
        beat = setInterval(() => tell(), 15_000)
        tell()
      },
      cancel: leave
    })
  }

  return {
    send,
    /** How often a stream was asked for. */
    asked: () => asked,
    /** Whether one is open. */
    isOpen: () => open.size > 0,
    /** Ends every stream; without an error as a server does that is shutting down. */
    end(how: 'broken' | 'drained') {
      for (const controller of [...open]) {
        open.delete(controller)
        if (how === 'broken') controller.error(new Error('reset'))
        else controller.close()
      }
    },
    /** Keeps no change before now. */
    forget() {
      oldest = chain.versions.length - 1
    }
  }
}

function aborted(): TransportError {
  return new TransportError('aborted', { code: 'ABORTED' })
}
