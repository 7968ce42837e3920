import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BodyStream, HttpAnswer } from '../guards/exchange.ts'
import { byteLengthOf, isStream, writable } from '../rpc/answerBody.ts'

/** Time to read the answer to a request that is still being sent, before its connection is cut. */
const unreadBodyMs = 2_000

/** The part of a long answer that a caller has to take to make progress. */
const stepBytes = 64 * 1024

/** The caller of a request, as its connection shows it. */
export interface CallerWatch {
  /** The connection closed before the answer was complete. */
  isGone(): boolean
  /** Aborts then. */
  readonly signal: AbortSignal
}

/**
 * Writes an answer to node:http.
 *
 * @param options.streamIdleMs - a caller that takes nothing of its answer for so long is cut off.
 * @throws what a stream fails with after it began.
 */
export async function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpAnswer,
  options: { readonly streamIdleMs: number; readonly caller: CallerWatch }
): Promise<void> {
  // A host may have answered meanwhile, as those do that set a time for every answer.
  if (options.caller.isGone() || response.destroyed || response.headersSent) {
    if (isStream(body)) await body.return()
    return
  }
  const sent = request.httpVersionMajor > 1 ? withoutConnection(headers) : headers
  if (isStream(body)) {
    const watch = watchTaking(response, options.streamIdleMs)
    response.writeHead(status, sent)
    const pieces = Readable.from(inSteps(body, watch), { objectMode: true, highWaterMark: 1 })
    await pipeline(pieces, response, { signal: options.caller.signal })
    return
  }
  const bytes = byteLengthOf(body)
  response.writeHead(status, { ...sent, ...(status === 204 ? {} : { 'content-length': bytes }) })
  // Refused without reading its body: what still comes is thrown away by node:http, though not for ever.
  if (!request.complete) response.once('finish', () => cutWhenStillSending(request))
  if (typeof body === 'string') {
    // Histories are ASCII, which needs no encoding: the fewer passes over them the better.
    response.end(body, bytes === body.length ? 'latin1' : 'utf8')
  } else {
    for (const part of body.slice(0, -1)) response.write(writable(part))
    response.end(writable(body.at(-1) ?? ''))
  }
  // Nothing is left to watch where the system has taken all of it at once. HTTP/2 does not say so.
  if (response.writableLength !== 0) watchTaking(response, options.streamIdleMs).given()
}

/** HTTP/2 has no `connection`: its host ends connections in its own way. */
function withoutConnection(headers: HttpAnswer['headers']): HttpAnswer['headers'] {
  const { connection: _, ...kept } = headers
  return kept
}

/**
 * Cuts an answer into parts, each handed on when the ones before were taken. The next one is made while the last is on its way,
 * so that neither the server nor a quick caller waits for the other; never more than one.
 */
function inSteps(body: BodyStream, watch: TakingWatch): AsyncIterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  let ahead: ReturnType<BodyStream['next']> | undefined
  let isOver = false
  const makeNext = () => {
    ahead ??= body.next()
    return ahead
  }
  const steps: AsyncIterator<Buffer, undefined> = {
    async next() {
      watch.taken()
      if (rest.length === 0) {
        const next = await makeNext()
        ahead = undefined
        if (next.done) {
          isOver = true
          // What was written last has still to be taken; the end of the answer stops the watch.
          watch.given()
          return next
        }
        rest = typeof next.value === 'string' ? Buffer.from(next.value) : bufferOf(next.value)
      }
      const step = rest.subarray(0, stepBytes)
      rest = rest.subarray(stepBytes)
      // Once this one has been written.
      if (rest.length === 0) {
        setImmediate(() => {
          // The reader of the part gets the failure; there may be none left.
          if (!isOver) makeNext().catch(() => {})
        })
      }
      watch.given()
      return { done: false, value: step }
    },
    async return() {
      isOver = true
      await body.return()
      return { done: true, value: undefined }
    }
  }
  return { [Symbol.asyncIterator]: () => steps }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function cutWhenStillSending(request: IncomingMessage): void {
  const cut = setTimeout(() => {
    if (!request.complete) request.socket.destroy()
  }, unreadBodyMs)
  cut.unref()
}

/** Watches a caller take an answer, by what its writer reports. */
interface TakingWatch {
  /** A part was written: it is the caller's turn to take it. */
  given(): void
  /** Everything written is on its way to the caller. */
  taken(): void
}

/**
 * Cuts the connection of a caller who takes nothing of its answer for `idleMs`, whatever it sends meanwhile.
 *
 * @remarks The time runs only while it is this answer's turn: one that waits behind another on its connection is not
 *   late. (The time-outs of node:net begin anew with every byte received, and where a write was under way last no less
 *   than twice their time.)
 */
function watchTaking(response: ServerResponse, idleMs: number): TakingWatch {
  let isWaiting = false
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    isWaiting = false
    clearTimeout(timer)
  }
  const start = () => {
    clearTimeout(timer)
    if (isWaiting && response.socket !== null) timer = setTimeout(() => response.destroy(), idleMs)
  }
  response.once('socket', start).once('finish', stop).once('close', stop)
  return {
    given() {
      isWaiting = true
      start()
    },
    taken: stop
  }
}
