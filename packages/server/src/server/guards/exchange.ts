import { Refusal } from '../../platform/refusal.ts'
import type { PieceStream, WholeBody } from '../rpc/answerBody.ts'

/** A request body did not fit into the allowed number of bytes. */
export const bodyTooLarge = Symbol('body too large')

/** Makes the refusal of a body that did not come whole. No one reads that answer, and an operator need not see it. */
export function callerGone(): Refusal {
  return new Refusal('UPSTREAM_UNAVAILABLE', 'The caller went away while sending its request.', {})
}

/** A mistake of the host that an operator has to see: something in front has read the body, so nothing more comes. */
export class BodyReadByHostError extends Error {
  constructor() {
    super('the host has read the body already: hand on its requests before any body parser')
  }
}

/**
 * An HTTP request, from either listener: Fetch and node:http both reduce their request to this, so
 * that one piece of code decides what is answered.
 */
export interface HttpRequest {
  /** Such as `POST`. */
  readonly method: string
  /** As it was sent, not decoded, without query. */
  readonly path: string
  /** What follows the `?` of the URL; empty without one. */
  readonly query: URLSearchParams
  /** Address of the other end of the connection, which may be a proxy; absent where the host does not report it. */
  readonly peerAddress?: string | undefined
  /** Value of a header by its lower-case name; repeated ones joined by `, `. */
  header(name: string): string | undefined
  /** The whole body, or `bodyTooLarge` as soon as it exceeds `largestBytes`, before the rest is read. */
  readBody(largestBytes: number): Promise<Uint8Array | typeof bodyTooLarge>
  /** Aborts when the caller is gone before the answer is complete. */
  readonly signal: AbortSignal
}

/** A body in pieces, of text or compressed. */
export type BodyStream = PieceStream<string | Uint8Array>

/** What an HTTP request is answered with. */
export interface HttpAnswer {
  /** Such as 200. */
  readonly status: number
  /** By their lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** A text, bytes, or pieces of them as they come. */
  readonly body: WholeBody | BodyStream
  /** The body is a stream of events, which may last for days: it is no request under way. */
  readonly isEvents?: true | undefined
}

/** Answers any request. Never rejects. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpAnswer>
