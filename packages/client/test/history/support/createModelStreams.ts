import { isConfirmed, type TransactionRecord, TransportError } from '../../../src/fetch.ts'
import type { HistoryClient } from '../../../src/history/index.ts'
import type { Sending } from '../../../src/sendCall.ts'
import type { HttpRequest, Transport } from '../../../src/transport.ts'
import { type ModelChain, rpcError } from './createModelChain.ts'

/** How a service differs from one that says at once that a stream is level. */
export interface StreamHabits {
  /** `synced` comes with every 15 seconds only, as the document of before allowed it. */
  readonly isSeldomLevel?: boolean
  /** How long until the next event of a change arrives. */
  readonly gapMs?: () => number
}

/**
 * The streams of a service over the chain. The cursor of an event is the number of the version that it belongs to, and its own
 * among the events of that version; of `synced`, the number of the version alone.
 */
export function createModelStreams(
  chain: ModelChain,
  latencyMs = () => 0,
  { isSeldomLevel = false, gapMs = () => 0 }: StreamHabits = {}
) {
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>()
  let oldest = 0
  let asked = 0

  const send: NonNullable<HistoryClient['send']> = async (_method, call, _params, adapt) => {
    asked++
    await new Promise(resolve => setTimeout(resolve, latencyMs()))
    const { signal, after } = call as typeof call & { readonly after: string }
    if (signal?.aborted) throw aborted()
    if (Number(after.split('.')[0]) < oldest) throw rpcError('CURSOR_EXPIRED')
    const response = new Response(createBody(after), {
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

  function createBody(after: string): ReadableStream<Uint8Array> {
    const [number = 0, ownNumber = 0] = after.split('.').map(Number)
    /** The last version of which everything was told, and how many events of the next one were. */
    let [version, told] = ownNumber > 0 ? [number - 1, ownNumber] : [number, 0]
    let tell = () => {}
    let isTelling = false
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
        const say = (id: string, event: object) =>
          controller.enqueue(new TextEncoder().encode(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`))
        const synced = () => {
          // What was told to be final stays it.
          const level = { head: { blockNumber: chain.head(), blockHash: '0x' }, finalized: chain.finalized() }
          say(`${version}`, { kind: 'synced', ...level })
        }
        const tellAll = async () => {
          while (version < chain.versions.length - 1) {
            const events = eventsBetween(chain.versions[version] ?? [], chain.versions[version + 1] ?? [])
            for (const event of events.slice(told)) {
              say(`${version + 1}.${++told}`, { addresses: ['0xa'], ...event })
              const ms = gapMs()
              if (ms > 0) await new Promise(resolve => setTimeout(resolve, ms))
              if (!open.has(controller)) return
            }
            version++
            told = 0
          }
          if (!isSeldomLevel) synced()
        }
        tell = () => {
          if (!open.has(controller)) return leave()
          if (isTelling) return
          isTelling = true
          void tellAll().finally(() => {
            isTelling = false
            if (version < chain.versions.length - 1) tell()
          })
        }
        open.add(controller)
        chain.listeners.add(tell)
        beat = setInterval(() => {
          if (!open.has(controller)) leave()
          else if (!isTelling) synced()
        }, 15_000)
        if (version === chain.versions.length - 1) synced()
        else tell()
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

/** Changes of one step of the chain. All records of the blocks that are new are told of, also those that were in others. */
function eventsBetween(
  before: readonly TransactionRecord[],
  now: readonly TransactionRecord[]
): readonly object[] {
  const known = new Map(before.map(record => [record.hash, record]))
  const blocks = now.filter(record => isConfirmed(record)).reverse()
  const undone = before.filter(record => isConfirmed(record)).reverse()
  const same = blocks.findIndex((record, at) => placeOf(record) !== (undone[at] && placeOf(undone[at])))
  const firstOther = same < 0 ? Math.min(blocks.length, undone.length) : same
  // A block is the same as a whole, or not at all.
  const lowest = Math.min(
    ...[blocks[firstOther], undone[firstOther]].map(record => record?.blockNumber ?? Number.POSITIVE_INFINITY)
  )
  const confirmed = blocks.filter(({ blockNumber = 0 }) => blockNumber >= lowest)
  const pending = now.filter(
    record => !isConfirmed(record) && JSON.stringify(known.get(record.hash)) !== JSON.stringify(record)
  )
  const left = new Set(now.map(({ hash }) => hash))
  return [
    ...confirmed.map(record => ({
      ...{ kind: known.has(record.hash) ? 'confirmed' : 'added', record },
      block: { blockNumber: record.blockNumber, blockHash: '0x' }
    })),
    ...pending.map(record => {
      const shown = known.get(record.hash)
      return { kind: !shown ? 'added' : isConfirmed(shown) ? 'unconfirmed' : 'updated', record }
    }),
    ...before
      .filter(({ hash }) => !left.has(hash))
      .map(record => ({
        ...{ kind: 'removed', hash: record.hash },
        reason: isConfirmed(record) ? 'reorged' : 'replaced'
      }))
  ]
}

function placeOf(record: TransactionRecord): string {
  return `${record.hash}@${isConfirmed(record) ? record.blockNumber : ''}`
}

function aborted(): TransportError {
  return new TransportError('aborted', { code: 'ABORTED' })
}
