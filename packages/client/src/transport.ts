import type { AbortSignalLike } from './AbortSignalLike.ts'
import type { FetchedResponse } from './fetchTransport.ts'

/** One HTTP POST, ready to send: what `fetch` takes. */
export interface HttpRequest {
  readonly method: 'POST'
  /** Complete: the transport adds nothing that a server would act on. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Fires at the deadline or when the caller gives up, in every phase including the body. */
  readonly signal: AbortSignalLike
  /** No redirect is followed. Workers know no other way than this one. */
  readonly redirect: 'manual'
}

/**
 * Reads a body in place of the transport, such as one without end.
 *
 * @returns The text that the answer counts as; `undefined` for one that was cut off.
 */
export type ReadBody = (
  response: Pick<FetchedResponse, 'body' | 'headers' | 'text'>,
  maxBytes: number
) => Promise<string | undefined>

/** A complete HTTP answer of any status. */
export interface HttpResponse {
  /** 0 for a redirect that a browser hides. */
  readonly status: number
  /** As received, because parsing may round numbers; `undefined` for an answer that was cut off. */
  readonly text: string | undefined
  /** By name in lower case; nothing for a header that is not there. */
  readonly header: (name: string) => string | null | undefined
  /** What `JSON.parse` made of the text: once for all calls of a batch. */
  json?: unknown
}

/**
 * Sends one POST without following redirects and resolves with whatever status comes back.
 *
 * @param maxBytes - Decoded bytes after which the answer is cut off.
 * @param read - Reads the body while it arrives.
 * @throws What the library it uses throws; {@link toNetworkFailure} takes from that what may be shown.
 */
export type Transport = (
  url: string,
  request: HttpRequest,
  maxBytes: number,
  read?: ReadBody
) => Promise<HttpResponse>
