import { createEventReader, type ServerSentEvent } from '@chain-data/protocol'
import type { AbortSignalLike } from '../AbortSignalLike.ts'
import type { Core } from '../connect.ts'
import { need, ProtocolError, TransportError } from '../errors.ts'
import { type ByteStream, readText } from '../fetchTransport.ts'
import type { Method } from '../Method.ts'
import type { CallObject } from '../sendCall.ts'
import { startDeadline } from '../startDeadline.ts'
import type { ReadBody } from '../transport.ts'

/** A stream of events that was asked for. */
export interface EventStream {
  /**
   * The events that came next. One call at a time.
   *
   * @returns Nothing once the server has ended the stream.
   * @throws {ChainDataClientError} No stream came, it broke, or nothing came for too long.
   */
  readonly read: () => Promise<readonly ServerSentEvent[] | undefined>
  /** Gives the connection up. */
  readonly close: () => void
}

/**
 * Sends a call that is answered by a stream of events, once, with the credentials and the errors of every other call.
 *
 * @param silenceMs - Longest wait for the next bytes. The time between two reads is not part of it.
 * @throws {ConfigurationError} `STREAM_UNSUPPORTED`: this runtime gives no body before its end.
 */
export function openStream(
  { send }: Pick<Core, 'send'>,
  method: Method,
  call: CallObject,
  silenceMs: number,
  signal: AbortSignalLike | undefined
): EventStream {
  const { name } = method
  const needStreams = (met: unknown) => need(met, 'this runtime has no streams', 'STREAM_UNSUPPORTED', name)
  // React Native, where the answer to a stream would never come.
  needStreams('ReadableStream' in globalThis)
  const decoder = new TextDecoder()
  const readEvents = createEventReader()
  const ending = new AbortController()
  let body: ReturnType<NonNullable<ByteStream['getReader']>> | undefined
  let isStream = false
  let maxBytes = 0
  let unreadBytes = 0
  let id: unknown
  /** Ends the exchange with the text of an answer; without a text, as one that is too large. */
  let finish: (text: string | Promise<never> | undefined) => void = () => {}
  const fail = (error: unknown) => {
    const failed = Promise.reject(error)
    // Nobody takes it where no body has come yet.
    failed.catch(() => {})
    finish(failed)
  }

  const abort = () => {
    ending.abort(signal?.reason)
    body?.cancel().catch(() => {})
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)

  let arrive: () => void
  const arrived = new Promise<void>(resolve => {
    arrive = resolve
  })
  const read: ReadBody = async (response, limit) => {
    isStream = /^text\/event-stream/i.test(`${response.headers.get('content-type')}`)
    if (!isStream) return readText(response, limit)
    maxBytes = limit
    body = (response.body as ByteStream | null | undefined)?.getReader?.()
    arrive()
    return new Promise(resolve => {
      finish = resolve
    })
  }
  const exchange = send(
    method,
    { ...call, signal: ending.signal, timeoutMs: Number.POSITIVE_INFINITY, retries: 0 },
    undefined,
    sending => ({
      ...sending,
      transport(url, request, maxBytes) {
        id = JSON.parse(request.body).id
        const headers = { ...request.headers, Accept: 'text/event-stream, application/json' }
        return sending.transport(url, { ...request, headers }, maxBytes, read)
      }
    })
  ).then(
    () => undefined,
    (error: object) => error
  )

  return {
    async read() {
      const { race, release } = startDeadline(silenceMs, undefined)
      let isSilent = false
      try {
        // Not again and again: what waits for the exchange stays in memory until its end.
        if (!isStream) await race(Promise.race([arrived, exchange]))
        const value = body && (await race(body.read())).value
        if (value) {
          const events = readEvents(decoder.decode(value, { stream: true }))
          unreadBytes = events.length ? 0 : unreadBytes + value.length
          if (unreadBytes <= maxBytes) return events
        }
        finish(value ? undefined : `{"jsonrpc":"2.0","id":${id},"result":[]}`)
      } catch (error) {
        isSilent = error === 'TIMEOUT'
        fail(error)
        if (isSilent) abort()
      } finally {
        release()
      }
      const error = await exchange
      if (isSilent) {
        throw new TransportError(`nothing came for ${silenceMs} ms`, {
          ...error,
          code: 'TIMEOUT',
          method: name,
          retryable: true
        })
      }
      if (error) throw error
      needStreams(!isStream || body)
      if (!isStream) {
        throw new ProtocolError('the answer is no stream', {
          code: 'PROTOCOL',
          reason: 'NOT_A_STREAM',
          method: name
        })
      }
      return undefined
    },
    close() {
      signal?.removeEventListener('abort', abort)
      abort()
    }
  }
}
