import { Refusal } from '../../platform/refusal.ts'
import type { ResultChunk, ResultStream } from '../methods/MethodContext.ts'
import { exactJson } from './envelope.ts'

/** Answers up to this many characters are sent whole, with their length; longer ones as they are read. */
const maxWholeChars = 262_144

/** An answer in pieces. Whoever holds one reads it to its end or calls `return`, so that the store is let go. */
export interface PieceStream extends AsyncIterator<string, undefined> {
  return(): Promise<IteratorResult<string, undefined>>
}

/** What ends a stream that has begun: the connection is cut, so that no well-formed wrong answer exists. */
export interface PieceBounds {
  /** Longest time that one piece may take to come. */
  readonly idleMs: number
  /** Most bytes of the whole answer; null: no bound. */
  readonly largestBytes: number | null
}

/**
 * Writes a result stream as JSON text, one piece per chunk, and closes it in the end on every path.
 *
 * @remarks `next` throws {Refusal} UPSTREAM_UNAVAILABLE or RESPONSE_TOO_LARGE at a bound, and what the stream throws.
 */
export function writePieces(
  stream: ResultStream,
  prefix: string,
  suffix: string,
  bounds: PieceBounds
): PieceStream {
  const pieces = generatePieces(stream, prefix, suffix)
  let bytes = 0
  const end = async () => {
    // Not awaited: a generator that waits for a stuck read would not return before that read does.
    pieces.return(undefined).catch(() => {})
    await stream.close()
  }
  return {
    async next() {
      try {
        const next = await inTime(pieces.next(), bounds.idleMs)
        if (next.done) return next
        if (bounds.largestBytes === null) return next
        // A pass over the whole text, so only where there is a bound.
        bytes += Buffer.byteLength(next.value)
        if (bytes > bounds.largestBytes) throw tooLarge(bounds.largestBytes)
        return next
      } catch (error) {
        await end()
        throw error
      }
    },
    async return() {
      await end()
      return { done: true, value: undefined }
    }
  }
}

/** The refusal of an answer beyond the host's bound. */
export function tooLarge(largestBytes: number): Refusal {
  return new Refusal(
    'RESPONSE_TOO_LARGE',
    `The answer exceeds ${largestBytes} bytes; ask for less of it.`,
    {}
  )
}

async function* generatePieces(
  stream: ResultStream,
  prefix: string,
  suffix: string
): AsyncGenerator<string, undefined, undefined> {
  try {
    let lead = `${prefix}[`
    for await (const chunk of stream.chunks) {
      if (chunk.length === 0) continue
      yield lead + elementsText(chunk)
      lead = ','
    }
    yield lead === ',' ? `]${suffix}` : `${lead}]${suffix}`
  } finally {
    await stream.close()
  }
  return undefined
}

/** Without brackets of its own: all chunks together are one array. */
function elementsText(chunk: ResultChunk): string {
  return typeof chunk === 'string' ? chunk : exactJson(chunk).slice(1, -1)
}

async function inTime<T>(promise: Promise<T>, idleMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Refusal('UPSTREAM_UNAVAILABLE', `The answer made no progress for ${idleMs} ms.`, {}))
    }, idleMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Reads pieces until they end or become long. While nothing has been sent a failure can still be told as one, so
 * the first pieces are always read before the answer begins.
 *
 * @returns The whole text, or a stream that begins with what was already read.
 */
export async function gather(pieces: PieceStream, maxChars = maxWholeChars): Promise<string | PieceStream> {
  let text = ''
  while (text.length <= maxChars) {
    const next = await pieces.next()
    if (next.done) return text
    text += next.value
  }
  return withFirst(text, pieces)
}

/** `first`, then the rest; `return` reaches the rest at any time. */
function withFirst(first: string, rest: PieceStream): PieceStream {
  let pending: string | undefined = first
  return {
    async next() {
      if (pending === undefined) return rest.next()
      const value = pending
      pending = undefined
      return { done: false, value }
    },
    return() {
      pending = undefined
      return rest.return()
    }
  }
}

/** Lets go of an answer that nobody will read, whenever it comes. */
export function discard(answering: Promise<string | PieceStream>): void {
  answering
    .then(async body => {
      if (typeof body !== 'string') await body.return()
    })
    .catch(() => {})
}
