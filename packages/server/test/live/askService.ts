import type { HistoryRecord } from './foldChanges.ts'
import { readServerEvents, type ServerEvent } from './readServerEvents.ts'

/** Where a service is, as whom it is asked, and for what. */
export interface Service {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly chainId: number
  /** What is attached to records, in histories and events alike. */
  readonly include?: readonly string[]
}

/** A history at the moment that its cursor names. */
export interface HistoryAnswer {
  readonly cursor: string
  readonly records: readonly HistoryRecord[]
  /** Byte for byte. */
  readonly text: string
}

/** The service said no. */
export class RefusedError extends Error {
  readonly reason: string
  constructor(reason: string, message: string) {
    super(`${reason}: ${message}`)
    this.reason = reason
  }
}

/** Where a stream begins; both absent: now. */
export interface Resume {
  readonly after?: string
  readonly lastEventId?: string
  readonly signal?: AbortSignal
}

/** @throws {RefusedError} The service has no answer. */
export async function readHistory(service: Service, address: string): Promise<HistoryAnswer> {
  const { include } = service
  const params = include === undefined ? [address] : [address, { include }]
  const answer = await post(service, 'svc_getTransactionsByAddress', params)
  const body = await answer.text()
  const { result, error } = parseExactly(body) as {
    result?: HistoryRecord[]
    error?: { message: string; data: { reason: string } }
  }
  if (error !== undefined) throw new RefusedError(error.data.reason, error.message)
  const cursor = answer.headers.get('x-chain-data-cursor')
  if (result === undefined || cursor === null)
    throw new Error(`no history with a cursor: ${body.slice(0, 200)}`)
  return { cursor, records: result, text: JSON.stringify(result) }
}

/**
 * Opens a stream of the changes of some accounts.
 *
 * @returns its events; leaving the loop closes the connection.
 * @throws {RefusedError} The service does not open it.
 */
export async function openStream(
  service: Service,
  addresses: readonly string[],
  { after, lastEventId, signal }: Resume = {}
): Promise<AsyncGenerator<ServerEvent>> {
  const { include } = service
  const options = { ...(after === undefined ? {} : { after }), ...(include === undefined ? {} : { include }) }
  const params = Object.keys(options).length === 0 ? [addresses] : [addresses, options]
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId })
  }
  const answer = await post(service, 'svc_watchAddresses', params, headers, signal)
  if (answer.status !== 200 || !/^text\/event-stream\b/.test(answer.headers.get('content-type') ?? '')) {
    const { error } = (await answer.json()) as { error: { message: string; data: { reason: string } } }
    throw new RefusedError(error.data.reason, error.message)
  }
  if (answer.body === null) throw new Error('a stream without a body')
  return readServerEvents(answer.body)
}

/** What a service writes is what JSON.stringify would write: else equal values were no equal bytes. */
export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (JSON.stringify(value) !== text)
    throw new Error(`JSON that could be written in another way: ${text.slice(0, 300)}`)
  return value
}

function post(
  { url, headers, chainId }: Service,
  method: string,
  params: readonly unknown[],
  more: Readonly<Record<string, string>> = {},
  signal?: AbortSignal
): Promise<Response> {
  return fetch(`${url}/evm-chain`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', ...more },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, chainId, method, params }),
    ...(signal === undefined ? {} : { signal })
  })
}
