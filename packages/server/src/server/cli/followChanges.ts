import { setTimeout as sleep } from 'node:timers/promises'
import { type AddressEvent, createEventReader, limits, retryableCodes } from '@chain-data/protocol'
import { isRecord } from '../config/isRecord.ts'
import { callServer, describeRefusal, failureOf, parseObject } from './callServer.ts'
import type { AskedServer } from './findServer.ts'
import { CommandError } from './reporting.ts'

/** One event of the stream, and where it stands. */
export interface FollowedEvent {
  readonly cursor: string
  readonly event: AddressEvent
}

/** What is followed. */
export interface Followed {
  readonly chainId: number
  readonly addresses: readonly string[]
  /** The cursor of an event; absent: from now on. */
  readonly after?: string | undefined
  /** Is called with the reason, safe for a terminal, each time before the stream is connected again. */
  readonly onBreak: (reason: string) => void
}

const firstPauseMs = 1_000
const longestPauseMs = 30_000
const silenceMs = 3 * limits.syncedMs
const longestUnreadCharacters = 64 * 1024 * 1024

/**
 * The changes of accounts as a running server reports them, without end. A stream that ends is connected again, and goes on after
 * its last event.
 *
 * @throws {CommandError} the server refuses, or is none.
 */
export async function* followChanges(
  server: AskedServer,
  { chainId, addresses, after: start, onBreak }: Followed
): AsyncGenerator<FollowedEvent, never, undefined> {
  let after = start
  for (let failures = 0; ; failures++) {
    let reason = 'the server ended it'
    try {
      for await (const followed of readStream(server, { chainId, addresses, after })) {
        failures = 0
        after = followed.cursor
        yield followed
      }
    } catch (error) {
      if (error instanceof CommandError) throw error
      const isSilent = error instanceof Error && error.name === 'AbortError'
      reason = isSilent ? `nothing came for ${silenceMs / 1_000} seconds` : failureOf(error)
    }
    onBreak(reason)
    await sleep(Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** failures))
  }
}

async function* readStream(
  server: AskedServer,
  { chainId, addresses, after }: Omit<Followed, 'onBreak'>
): AsyncGenerator<FollowedEvent, void, undefined> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), silenceMs)
  const params = after === undefined ? [addresses] : [addresses, { after }]
  try {
    const response = await callServer(server, {
      ...{ method: 'watchAddresses', chainId, params, signal: silence.signal },
      accept: 'text/event-stream, application/json'
    })
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      throw refusalOf(response.status, await response.text(), server)
    }
    const read = createEventReader()
    const decoder = new TextDecoder()
    let unread = 0
    for await (const chunk of response.body ?? []) {
      timer.refresh()
      const text = decoder.decode(chunk, { stream: true })
      const messages = read(text)
      unread = messages.length > 0 ? 0 : unread + text.length
      if (unread > longestUnreadCharacters)
        throw new CommandError(`What answers at ${server.url} sends no events.`)
      for (const { id: cursor = '', data } of messages) yield { cursor, event: readEvent(data, server.url) }
    }
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

function readEvent(data: string, url: string): AddressEvent {
  const event = parseObject(data)
  if (typeof event?.kind === 'string') return event as unknown as AddressEvent
  throw new CommandError(`What answers at ${url} sends something that is no event.`)
}

/** @returns what ends the command, or an error that may pass. */
function refusalOf(
  status: number,
  text: string,
  { url, projectId }: Pick<AskedServer, 'url' | 'projectId'>
): Error {
  const error = parseObject(text)?.error
  // Too many calls, a server that is shutting down, a proxy without one.
  if (status === 429 || status >= 500) return new Error(`HTTP ${status}`)
  if (!isRecord(error)) {
    return new CommandError(`What answers at ${url} gives no stream of changes (HTTP ${status}).`)
  }
  const words = describeRefusal(error, projectId, 'The server gives no stream of changes')
  return retryableCodes.includes(Number(error.code)) ? new Error(words) : new CommandError(words)
}
