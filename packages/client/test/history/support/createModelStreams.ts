import type { Call } from '../../../src/Call.ts'
import type { ChainDataClientError } from '../../../src/errors.ts'
import { TransportError } from '../../../src/fetch.ts'
import type { HistoryClient } from '../../../src/history/index.ts'
import { type ModelChain, rpcError } from './createModelChain.ts'

/** The streams of a service over the chain. The position of an event is the number of the version that it leads to. */
export function createModelStreams(chain: ModelChain, latencyMs = () => 0) {
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>()
  let oldest = 0
  let asked = 0

  const send: NonNullable<HistoryClient['send']> = async ([call], { signal }, _batching, streaming) => {
    asked++
    await new Promise(resolve => setTimeout(resolve, latencyMs()))
    const { id, body } = call as Call
    const [, options] = JSON.parse(body).params as [unknown, { readonly after: string }]
    const end = (error: unknown) => {
      ;(call as Call).error = error as ChainDataClientError
    }
    if (signal?.aborted) return end(aborted())
    if (Number(options.after) < oldest) return end(rpcError('CURSOR_EXPIRED'))
    const response = new Response(createBody(Number(options.after)), {
      headers: { 'Content-Type': 'text/event-stream' }
    })
    const text = streaming?.read(response, 2 ** 20)
    const ended = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(aborted()))
    })
    try {
      if ((await Promise.race([text, ended])) === undefined) throw new Error(`${id} was too large`)
    } catch (error) {
      const isOurs = error instanceof TransportError
      end(isOurs ? error : new TransportError('broken', { code: 'NETWORK', retryable: true }))
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
    write: ((_method: unknown, call: object) => ({
      ...{ id: 1, method: { name: 'watchAddresses' } },
      body: JSON.stringify({ params: [[], call] })
    })) as never as NonNullable<HistoryClient['write']>,
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
