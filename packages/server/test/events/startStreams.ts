import { ChangeFilter, type SyncStatus } from '@chain-data/index'
import { readPart } from '../../src/features/liveStreams/live/readPart.ts'
import { createWatchAddresses } from '../../src/features/liveStreams/svc_watchAddresses.ts'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { authorization, type ServiceChanges, startService } from '../http/startService.ts'
import { readServerEvents, type ServerEvent } from '../live/readServerEvents.ts'
import type { ScriptedLog } from './scriptedLog.ts'

const following: SyncStatus = {
  ...{ chainId: 1, phase: 'following', head: 10, indexedFrom: 0, backfilled: true, degraded: false },
  poolCovered: true
} as SyncStatus

/** A service that streams the changes of a log. */
export function startStreams(log: ScriptedLog, changes: ServiceChanges = {}) {
  const failures: unknown[] = []
  const status = () => ({ ...following, poolSeenAtMs: Date.now() })
  const filter = new ChangeFilter()
  const watched = createWatchAddresses({
    replay: (_chainId, order) => readPart(log.reader, filter, order),
    chains: new Map([[1, { chainId: 1, reader: log.reader, status }]]),
    ...{ serveWhileSyncing: true, formatAddress: createAddressFormat(), clock: { now: Date.now } },
    onFailure: (_, failure) => failures.push(failure)
  })
  const service = startService({
    ...{ handlers: { svc_watchAddresses: watched.handler }, eventFigures: watched.figures },
    ...changes
  })
  return Object.assign(service, { failures, figures: watched.figures })
}

export function watchBody(addresses: readonly string[], options?: object): string {
  const params = options === undefined ? [addresses] : [addresses, options]
  return JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: 1, method: 'svc_watchAddresses', params })
}

/** A stream that a test reads event by event. */
export interface OpenedStream {
  readonly answer: Response
  /** @throws {Error} The stream has ended. */
  next(): Promise<ServerEvent & { readonly value: Record<string, unknown> }>
  /** The next event that tells of a change. */
  nextChange(): Promise<ServerEvent & { readonly value: Record<string, unknown> }>
  /** All bytes so far, comments included. */
  text(): string
  /** Resolves at the end of the stream. */
  ended(): Promise<void>
  cut(): void
}

/** Opens a stream over a socket. */
export async function openStream(
  url: string,
  addresses: readonly string[],
  {
    headers = {},
    ...options
  }: { readonly headers?: Record<string, string>; after?: string; include?: string[] } = {}
): Promise<OpenedStream> {
  const connection = new AbortController()
  const answer = await fetch(`${url}/evm-chain`, {
    method: 'POST',
    signal: connection.signal,
    headers: { authorization, 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: watchBody(addresses, options)
  })
  return readStream(answer, () => connection.abort())
}

export function readStream(answer: Response, cut: () => void = () => {}): OpenedStream {
  let text = ''
  async function* pieces() {
    if (answer.body === null) return
    for await (const piece of answer.body) {
      text += Buffer.from(piece).toString()
      yield piece
    }
  }
  const events = readServerEvents(pieces())
  const next: OpenedStream['next'] = async () => {
    const { done, value } = await events.next()
    if (done) throw new Error(`the stream has ended: ${text.slice(-200)}`)
    return { ...value, value: JSON.parse(value.data) }
  }
  return {
    ...{ answer, next, cut },
    async nextChange() {
      for (;;) {
        const event = await next()
        if (event.value.kind !== 'synced') return event
      }
    },
    text: () => text,
    async ended() {
      for await (const _event of events);
    }
  }
}
