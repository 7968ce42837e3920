import type { AddressEvent as WireEvent } from '@chain-data/protocol'
import type { AbortSignalLike } from '../AbortSignalLike.ts'
import type { ChainOptional, ChainPerCall } from '../Chain.ts'
import type { TransactionRecord } from '../Client.ts'
import type { Connection } from '../Connection.ts'
import { type ChainDataClientError, ProtocolError } from '../errors.ts'
import type { WatchAddressesArguments } from '../generated/calls.gen.ts'
import { watchAddresses as method } from '../generated/methods.gen.ts'
import { readNumber } from '../readOptions.ts'
import { needObject } from '../sendCall.ts'
import { startDeadline } from '../startDeadline.ts'
import { openStream } from './openStream.ts'

/**
 * One change of the history of a watched address, by its `kind`; or `synced`: every change up to here has come.
 *
 * - `added`, `updated`, `confirmed`, `unconfirmed`: `record` is what the history shows for its hash now.
 * - `removed`: the history shows nothing for `hash` any more, for a `reason`.
 * - `final`: no reorg changes the record any more. It stays as it is.
 */
export type AddressEvent = Cursored<WireEvent>

type Cursored<Event> = Event extends { readonly record: unknown }
  ? Omit<Event, 'record'> & { readonly record: TransactionRecord } & Position
  : Event & Position

interface Position {
  /** The position of the event: `after` it, another stream goes on, at any time and from any process. */
  readonly cursor: string
}

/** Arguments of {@link watchAddresses}, besides the chain. */
export interface WatchArguments extends WatchAddressesArguments {
  /** Ends the iteration with `code: 'ABORTED'`. Any `AbortSignal` fits. */
  readonly signal?: AbortSignalLike | undefined
  /** Longest time without a byte, in milliseconds, before the stream is connected again. Default 45 000; the service sends something every 15 s. */
  readonly timeoutMs?: number | undefined
  /** How often a stream is connected again without any event having come. Default: without end. */
  readonly retries?: number | undefined
  /** Is called before each pause: why the stream ended, and how long until it is connected again. Without an error the server ended it. */
  readonly onReconnect?: ((error: ChainDataClientError | undefined, waitMs: number) => void) | undefined
}

/** What a stream is asked over. @typeParam Chain - As of {@link Connection}. */
export type WatchConnection<Chain extends ChainOptional = ChainPerCall> = Pick<
  Connection<Chain>,
  'send' | '~types'
>

const firstPauseMs = 500
const longestPauseMs = 30_000

/**
 * Every change of the histories of 1 to 100 addresses, in order and exactly once, reorgs included. Where the connection breaks,
 * the server is drained or nothing comes any more, it is connected again and goes on after the last event.
 *
 * Who applies the events to a first page of `getTransactionsByAddress`, `after` the `x-chain-data-cursor` of that page (`header`
 * of `onAnswer`), has what the service would answer at every later event. `createLiveHistory` of `./history` does that.
 *
 * @param connection - A connection, or a client of any entry.
 * @returns Events without end. Nothing is sent before the first is asked for, and leaving the loop ends the stream. A slow loop
 *   holds up its stream, not memory; the server may then end it, and it is resumed.
 * @throws {RpcError} `CURSOR_EXPIRED` (see `hasReason`): the changes after the cursor are not kept any more. Read the history
 *   again, and go on from the cursor of its first page.
 * @throws {ConfigurationError} `STREAM_UNSUPPORTED`: this runtime gives no body before its end (React Native); `createLiveHistory`
 *   polls there.
 * @throws {ChainDataClientError} What no other attempt would change, such as wrong credentials or a host without this method.
 * @remarks An extension: not every host has it. One connection for each iteration; HTTP/1.1 gives a page six to a host. Through
 *   the global `fetch`, also for a client over axios.
 * @example
 * for await (const event of watchAddresses(client, { chainId: 1, addresses: [address], signal })) {
 *   if (event.kind === 'confirmed') console.log(event.record.hash, event.block?.blockNumber)
 * }
 * @see spec/openrpc.json svc_watchAddresses
 */
export function watchAddresses<Chain extends ChainOptional>(
  connection: WatchConnection<Chain>,
  call: WatchArguments & Chain
): AsyncGenerator<AddressEvent, void, undefined> {
  const leaving: Leaving = {}
  const events = followEvents(connection, call, leaving)
  const end = events.return.bind(events)
  // A generator's own `return` waits for the step under way, here for the next event.
  events.return = value => {
    leaving.isLeft = true
    leaving.stopWaiting?.()
    return end(value)
  }
  return events
}

/** How the caller of an iteration ends it while it waits. */
interface Leaving {
  isLeft?: boolean
  /** Ends what the iteration waits for. */
  stopWaiting?: () => void
}

async function* followEvents<Chain extends ChainOptional>(
  connection: WatchConnection<Chain>,
  call: WatchArguments & Chain,
  leaving: Leaving
): AsyncGenerator<AddressEvent, void, undefined> {
  const { name } = method
  needObject(name, call)
  const { signal, onReconnect } = call
  const silenceMs = readNumber('timeoutMs', 1, 45_000, call, name)
  const retries = readNumber('retries', 0, Number.POSITIVE_INFINITY, call, name)
  let after = call.after
  for (let failures = 0; ; failures++) {
    let failed: ChainDataClientError | undefined
    let count = 0
    const stream = openStream(connection, method, { ...call, after } as never, silenceMs, signal)
    leaving.stopWaiting = stream.close
    try {
      for (;;) {
        const events = await stream.read()
        if (!events) break
        for (const { id: cursor = after, data } of events) {
          // Not the first: a server may greet everybody and send them away again.
          if (count++) failures = 0
          after = cursor
          yield readEvent(data, cursor)
        }
      }
    } catch (error) {
      failed = error as ChainDataClientError
    } finally {
      stream.close()
    }
    if (leaving.isLeft) return
    if (failed && (!failed.retryable || failures >= retries)) throw failed
    if (failures >= retries) return
    // Full jitter: those that lost one server together do not come to the next one together.
    const waitMs =
      (failed?.retryAfterMs ?? 0) + Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** failures)
    onReconnect?.(failed, waitMs)
    const pause = startDeadline(waitMs, signal)
    const left = new Promise<void>(resolve => {
      leaving.stopWaiting = resolve
    })
    await pause.race(left).catch(() => {})
    pause.release()
    if (leaving.isLeft) return
  }
}

function readEvent(data: string, cursor: string | undefined): AddressEvent {
  const fail = (reason: string): never => {
    throw new ProtocolError(`no valid event came (${reason})`, {
      code: 'PROTOCOL',
      reason,
      method: method.name
    })
  }
  let event: { readonly kind?: unknown } | undefined
  try {
    event = JSON.parse(data)
  } catch {
    // The message of a syntax error quotes the text.
  }
  if (!cursor || typeof event?.kind !== 'string') fail('NOT_AN_EVENT')
  method.read?.(method, event, { form: 'number', answer: { text: data }, resultIn: exact => exact, fail })
  return { ...(event as AddressEvent), cursor: `${cursor}` }
}
