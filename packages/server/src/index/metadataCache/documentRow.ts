import { createHash } from 'node:crypto'
import type { CachedDocument, CachedFailure, MetadataKind, MetadataRecord } from '../../model/metadata.ts'

/** Most bytes of each kind; what was used longest ago goes first. */
export type MetadataBounds = Readonly<Record<MetadataKind, number>>

/** What is to be stored of one address. */
export type MetadataChange =
  | { readonly is: 'document'; readonly kind: MetadataKind; readonly document: CachedDocument }
  | { readonly is: 'failure'; readonly kind: MetadataKind; readonly failure: CachedFailure }
  | { readonly is: 'use' }

/** What is known of one address, as a row holds it. */
export interface DocumentRow {
  readonly used_at: number
  readonly fetched_at: number | null
  readonly is_proven: number | boolean
  readonly failures: number
  readonly failed_at: number | null
  readonly body: Uint8Array | null
}

/** How the two kinds are stored. */
export const kindNumbers: Readonly<Record<MetadataKind, number>> = { content: 1, url: 2 }
/** What a row takes beside its body, index entries included. */
export const rowOverheadBytes = 256
/** Removed at most in one go: so that a transaction stays short, however much has to leave. */
export const evictedAtOnce = 64

/** The key of a row: addresses may be long, their SHA-256 is not. */
export function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** What a row says of its address. */
export function toMetadataRecord({
  fetched_at,
  is_proven,
  failures,
  failed_at,
  body
}: DocumentRow): MetadataRecord {
  return {
    ...(body === null || fetched_at === null
      ? {}
      : { document: { body, fetchedAtMs: fetched_at, isProven: Boolean(is_proven) } }),
    ...(failed_at === null ? {} : { failure: { count: failures, atMs: failed_at } })
  }
}
