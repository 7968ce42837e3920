/** One HTTP POST, ready to send. */
export interface HttpRequest {
  readonly url: string
  /** Complete: the transport adds nothing that a server would act on. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Fires at the deadline or when the caller gives up, in every phase including the body. */
  readonly signal: AbortSignal
  /** Decoded bytes after which the answer is cut off. */
  readonly maxResponseBytes: number
}

/** A complete HTTP answer of any status; the text is as received, because parsing may round numbers. */
export interface HttpResponse {
  readonly status: number
  readonly text: string
  readonly contentType: string | undefined
  readonly retryAfter: string | undefined
}

/**
 * Sends one POST without following redirects and resolves with whatever status comes back.
 *
 * @throws {TransportError} `NETWORK` or `RESPONSE_LIMIT`. An implementation never lets through, or attaches,
 *   an error of the library it uses: those carry the request headers.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>
