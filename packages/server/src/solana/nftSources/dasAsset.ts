import { z } from 'zod'
import { parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { present } from '../../platform/present.ts'
import type { NftHolding } from '../holdings/holdings.ts'

/** The meaning of one entry of a DAS answer. */
export type DasEntry =
  | { readonly kind: 'compressed'; readonly nft: NftHolding }
  /** Burnt, or not compressed: what is not compressed is read from the chain. */
  | { readonly kind: 'other'; readonly id: string }
  /** Not of the documented shape; without an id it cannot even be named. */
  | { readonly kind: 'unreadable'; readonly id?: string }

/** Ended at the first NUL and trimmed, like the same text on chain, where none is longer than 200 bytes. */
const text = z
  .string()
  .max(1_000)
  .transform(value => value.split('\0', 1).join().trim())
const address = z.string().refine(value => parseSolanaAddress(value) !== undefined)
const upTo = (max: number) => z.number().int().min(0).max(max)

const identified = z.object({ id: address })
const sorted = z.object({
  compression: z.object({ compressed: z.boolean().nullish() }).nullish(),
  burnt: z.boolean().nullish()
})
const owned = z.object({ ownership: z.object({ owner: text }) })
const described = z.object({
  content: z
    .object({
      metadata: z.object({ name: text.nullish(), symbol: text.nullish() }).nullish(),
      json_uri: text.nullish()
    })
    .nullish(),
  royalty: z
    .object({ primary_sale_happened: z.boolean().nullish(), basis_points: upTo(65_535).nullish() })
    .nullish(),
  authorities: z.array(z.object({ address, scopes: z.array(z.unknown()) })).nullish(),
  // On chain there are at most five.
  creators: z
    .array(z.object({ address, verified: z.boolean(), share: upTo(255) }))
    .max(10)
    .nullish(),
  mutable: z.boolean()
})

/**
 * Reads one entry of `getAssetsByOwner`. Nothing of it is believed unseen: it comes from an indexer, not from a node.
 *
 * @param owner - who must own it.
 * @throws {NodeContradictionError} a compressed NFT of another account: then no answer of this indexer can be used.
 * @see Metaplex Digital Asset Standard API, `getAssetsByOwner`
 */
export function readDasAsset(entry: unknown, owner: string): DasEntry {
  const id = identified.safeParse(entry).data?.id
  if (id === undefined) return { kind: 'unreadable' }
  const kind = sorted.safeParse(entry).data
  if (kind !== undefined && (!kind.compression?.compressed || kind.burnt)) return { kind: 'other', id }
  const holder = owned.safeParse(entry).data?.ownership.owner
  if (kind === undefined || holder === undefined) return { kind: 'unreadable', id }
  if (holder !== owner) {
    throw new NodeContradictionError(`compressed NFT ${id} has another owner than was asked for`)
  }
  const asset = described.safeParse(entry).data
  return asset === undefined ? { kind: 'unreadable', id } : { kind: 'compressed', nft: toHolding(id, asset) }
}

function toHolding(id: string, asset: z.infer<typeof described>): NftHolding {
  const { content, royalty, authorities, creators, mutable } = asset
  // Others than the one with the full scope may do single things.
  const authority = authorities?.find(({ scopes }) => scopes.includes('full'))
  return {
    address: id,
    mint: id,
    amount: 1n,
    isSemiFungible: false,
    metadata: {
      kind: 'compressed',
      ...present({
        updateAuthority: authority?.address,
        primarySaleHappened: royalty?.primary_sale_happened ?? undefined
      }),
      mint: id,
      name: content?.metadata?.name ?? '',
      symbol: content?.metadata?.symbol ?? '',
      uri: content?.json_uri ?? '',
      sellerFeeBasisPoints: royalty?.basis_points ?? 0,
      creators: creators ?? [],
      isMutable: mutable
    }
  }
}
