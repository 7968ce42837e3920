import type { IncomingMessage } from 'node:http'
import type { BodyStream } from '../http/exchange.ts'

/** Answers up to this many characters are sent whole, with their length; longer ones as they come. */
const wholeAnswerChars = 65_536

/**
 * The body of an answer: whole when it is short, else a stream that reads from the service only as fast as it is read.
 *
 * @param idleMs - Longest time until the next piece, once it is asked for.
 * @throws what broke the answer before its first 64 KiB; later the stream does.
 */
export async function readAnswerBody(answer: IncomingMessage, idleMs: number): Promise<string | BodyStream> {
  const pieces = piecesOf(answer, idleMs)
  let text = ''
  while (text.length < wholeAnswerChars) {
    const next = await pieces.next()
    if (next.done) return text
    text += next.value
  }
  let first: string | undefined = text
  return {
    async next() {
      if (first === undefined) return pieces.next()
      const value = first
      first = undefined
      return { done: false, value }
    },
    return: pieces.return
  }
}

function piecesOf(answer: IncomingMessage, idleMs: number): BodyStream {
  const chunks: AsyncIterator<string, undefined> = answer.setEncoding('utf8')[Symbol.asyncIterator]()
  return {
    async next() {
      const idle = setTimeout(() => {
        answer.destroy(Object.assign(new Error('no further piece in time'), { code: 'IDLE_TIMEOUT' }))
      }, idleMs)
      try {
        return await chunks.next()
      } finally {
        clearTimeout(idle)
      }
    },
    async return() {
      answer.destroy()
      return { done: true, value: undefined }
    }
  }
}
