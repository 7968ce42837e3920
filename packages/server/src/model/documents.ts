/** The JSON object that a token's metadata URI leads to. */
export interface TokenMetadata {
  /** Verbatim: unknown keys, nulls and all. */
  readonly data: Readonly<Record<string, unknown>>
  /** https URL or `data:image/` URI; "" where the object names no usable picture. */
  readonly image: string
}

/** One metadata URI to read. */
export interface MetadataRequest {
  /** As on chain. */
  readonly uri: string
  /** ERC-1155 only: replaces `{id}`. */
  readonly tokenId?: bigint
}

/**
 * Reads the documents of many metadata URIs at once. Never rejects.
 *
 * @param options.budgetMs - the longest this call waits.
 * @param options.signal - ends the wait earlier.
 * @returns in the order of `requests`; absent where there is no usable document, or none came in time.
 */
export type ReadDocuments = (
  requests: readonly MetadataRequest[],
  options: { readonly budgetMs: number; readonly signal: AbortSignal }
) => Promise<readonly (TokenMetadata | undefined)[]>
