import { ResultText } from '../methods/MethodContext.ts'

/** An answer in pieces. Its holder reads it to its end or calls `return`, so that the store is released. */
export interface PieceStream<Piece extends string | Uint8Array = string>
  extends AsyncIterator<Piece, undefined> {
  return(): Promise<IteratorResult<Piece, undefined>>
}

/** An answer that is complete: one text, or parts that follow each other. */
export type WholeBody = string | readonly (string | ResultText | Buffer)[]

/** The body of an answer. */
export type AnswerBody = WholeBody | PieceStream

export function isStream<Piece extends string | Uint8Array>(
  body: WholeBody | PieceStream<Piece>
): body is PieceStream<Piece> {
  return typeof body !== 'string' && 'next' in body
}

/** Returns a part as it is written. */
export function writable(part: string | ResultText | Buffer): string | Buffer {
  return part instanceof ResultText ? part.bytes : part
}

/** Joins the parts of a body of text. */
export function textOf(body: WholeBody): string {
  return typeof body === 'string' ? body : body.map(part => writable(part).toString()).join('')
}

export function byteLengthOf(body: WholeBody): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  let bytes = 0
  for (const part of body) bytes += Buffer.byteLength(writable(part))
  return bytes
}

/** Finds the kept text of an answer that is all of it but for what its call adds. */
export function keptIn(
  body: WholeBody
): { readonly before: string; readonly bytes: Buffer; readonly after: string } | undefined {
  if (typeof body === 'string') return undefined
  const [before, kept, after, ...more] = body
  const isKept = typeof before === 'string' && kept instanceof ResultText && typeof after === 'string'
  return isKept && more.length === 0 && kept.bytes.length > 0
    ? { before, bytes: kept.bytes, after }
    : undefined
}
