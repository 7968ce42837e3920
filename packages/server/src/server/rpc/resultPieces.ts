import { exactJson } from '../../platform/exactJson.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ResultStream } from '../methods/MethodContext.ts'
import { type AnswerBody, isStream, type PieceStream } from './answerBody.ts'

/** Answers up to this many characters are sent whole, with their length; longer ones as they are read. */
const maxWholeChars = 262_144

/** Bounds that end a stream: the connection is cut, so that no well-formed wrong answer exists. */
export interface PieceBounds {
  /** Longest time that one piece may take to come. */
  readonly idleMs: number
  /** Maximum of bytes of the whole answer; null: no bound. */
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
  { idleMs, largestBytes }: PieceBounds
): PieceStream {
  const chunks = stream.chunks[Symbol.asyncIterator]()
  let lead = `${prefix}[`
  let bytes = 0
  let isOver = false
  const end = async () => {
    isOver = true
    // Not awaited: a generator that waits for a stuck read would not return before that read does.
    chunks.return?.().catch(() => {})
    await stream.close()
  }

  async function writeNext(): Promise<string> {
    for (;;) {
      const { done, value: chunk } = await inTime(chunks.next(), idleMs)
      if (done) {
        await end()
        return lead === ',' ? `]${suffix}` : `${lead}]${suffix}`
      }
      if (chunk.length === 0) continue
      // Without brackets of its own: all chunks together are one array.
      const piece = lead + (typeof chunk === 'string' ? chunk : exactJson(chunk).slice(1, -1))
      lead = ','
      return piece
    }
  }

  return {
    async next() {
      if (isOver) return { done: true, value: undefined }
      try {
        const piece = await writeNext()
        // A pass over the whole text, so only where there is a bound.
        if (largestBytes !== null) bytes += Buffer.byteLength(piece)
        if (largestBytes !== null && bytes > largestBytes) throw tooLarge(largestBytes)
        return { done: false, value: piece }
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

/** Makes the refusal of an answer beyond the host's bound. */
export function tooLarge(largestBytes: number): Refusal {
  return new Refusal(
    'RESPONSE_TOO_LARGE',
    `The answer exceeds ${largestBytes} bytes; ask for less of it.`,
    {}
  )
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
 * Reads pieces until they end or become long. While nothing has been sent a failure can still be answered as one, so
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

/** Puts `first` before the rest; `return` reaches the rest at any time. */
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

/** Releases an answer that will not be read, whenever it comes. */
export function discard(answering: Promise<AnswerBody>): void {
  answering
    .then(async body => {
      if (isStream(body)) await body.return()
    })
    .catch(() => {})
}
