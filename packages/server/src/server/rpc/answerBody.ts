import { ResultText } from '../methods/MethodContext.ts'

/** An answer in pieces. Its holder reads it to its end or calls `return`, so that the store is released. */
export interface PieceStream extends AsyncIterator<string, undefined> {
  return(): Promise<IteratorResult<string, undefined>>
}

/** An answer that is complete: one text, or parts that follow each other. */
export type WholeBody = string | readonly (string | ResultText)[]

/** The body of an answer. */
export type AnswerBody = WholeBody | PieceStream

export function isStream(body: AnswerBody): body is PieceStream {
  return typeof body !== 'string' && 'next' in body
}

export function textOf(body: WholeBody): string {
  return typeof body === 'string'
    ? body
    : body.map(part => (typeof part === 'string' ? part : part.bytes.toString('latin1'))).join('')
}

export function byteLengthOf(body: WholeBody): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  let bytes = 0
  for (const part of body) bytes += part instanceof ResultText ? part.bytes.length : Buffer.byteLength(part)
  return bytes
}
