import { parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Creator } from '../accounts/assetMetadata.ts'
import type { NftHolding } from '../holdings/holdings.ts'

/** What one entry of a DAS answer is. */
export type DasEntry =
  | { readonly kind: 'compressed'; readonly nft: NftHolding }
  /** Burnt, or not compressed: what is not compressed is read from the chain. */
  | { readonly kind: 'other'; readonly id: string }
  /** Not of the documented shape; without an id it cannot even be named. */
  | { readonly kind: 'unreadable'; readonly id?: string }

/** Thrown inside this file only. */
class ShapeError extends Error {}

/** Longest texts that are taken; on chain a name has 32 bytes, a symbol 10 and a URI 200. */
const MAX_TEXT = 1_000
/** On chain there are at most five. */
const MAX_CREATORS = 10

/**
 * Reads one entry of `getAssetsByOwner`. Nothing of it is believed unseen: it comes from an indexer, not from a node.
 *
 * @param owner - who must own it.
 * @throws {NodeContradictionError} a compressed NFT of another account: then no answer of this indexer can be used.
 * @see Metaplex Digital Asset Standard API, `getAssetsByOwner`
 */
export function readDasAsset(entry: unknown, owner: string): DasEntry {
  if (!isRecord(entry) || typeof entry.id !== 'string' || parseSolanaAddress(entry.id) === undefined) {
    return { kind: 'unreadable' }
  }
  const { id } = entry
  try {
    const compression = orAbsent(entry.compression, recordAt('compression'))
    const isCompressed = orAbsent(compression?.compressed, booleanAt('compressed')) ?? false
    const isBurnt = orAbsent(entry.burnt, booleanAt('burnt')) ?? false
    if (!isCompressed || isBurnt) return { kind: 'other', id }
    const ownership = recordAt('ownership')(entry.ownership)
    if (textAt('owner')(ownership.owner) !== owner) {
      throw new NodeContradictionError(`compressed NFT ${id} has another owner than was asked for`)
    }
    return { kind: 'compressed', nft: readNft(id, entry) }
  } catch (error) {
    if (error instanceof ShapeError) return { kind: 'unreadable', id }
    throw error
  }
}

function readNft(id: string, entry: Readonly<Record<string, unknown>>): NftHolding {
  const content = orAbsent(entry.content, recordAt('content'))
  const described = orAbsent(content?.metadata, recordAt('metadata'))
  const royalty = orAbsent(entry.royalty, recordAt('royalty'))
  const updateAuthority = findUpdateAuthority(orAbsent(entry.authorities, listAt('authorities')) ?? [])
  const primarySaleHappened = orAbsent(royalty?.primary_sale_happened, booleanAt('primary_sale_happened'))
  return {
    address: id,
    mint: id,
    amount: 1n,
    isSemiFungible: false,
    metadata: {
      kind: 'compressed',
      ...(updateAuthority === undefined ? {} : { updateAuthority }),
      ...(primarySaleHappened === undefined ? {} : { primarySaleHappened }),
      mint: id,
      name: orAbsent(described?.name, textAt('name')) ?? '',
      symbol: orAbsent(described?.symbol, textAt('symbol')) ?? '',
      uri: orAbsent(content?.json_uri, textAt('json_uri')) ?? '',
      sellerFeeBasisPoints: orAbsent(royalty?.basis_points, integerAt('basis_points', 65_535)) ?? 0,
      creators: readCreators(orAbsent(entry.creators, listAt('creators')) ?? []),
      isMutable: booleanAt('mutable')(entry.mutable)
    }
  }
}

function readCreators(list: readonly unknown[]): readonly Creator[] {
  if (list.length > MAX_CREATORS) throw new ShapeError('creators')
  return list.map(item => {
    const creator = recordAt('creator')(item)
    return {
      address: addressAt('creator')(creator.address),
      verified: booleanAt('verified')(creator.verified),
      share: integerAt('share', 255)(creator.share)
    }
  })
}

/** The one authority that may do everything; others may do single things. */
function findUpdateAuthority(authorities: readonly unknown[]): string | undefined {
  for (const item of authorities) {
    const { address, scopes } = recordAt('authority')(item)
    if (listAt('scopes')(scopes).includes('full')) return addressAt('authority')(address)
  }
  return undefined
}

function orAbsent<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const recordAt = (name: string) => (value: unknown) => {
  if (!isRecord(value)) throw new ShapeError(name)
  return value
}

const listAt =
  (name: string) =>
  (value: unknown): readonly unknown[] => {
    if (!Array.isArray(value)) throw new ShapeError(name)
    return value
  }

const booleanAt = (name: string) => (value: unknown) => {
  if (typeof value !== 'boolean') throw new ShapeError(name)
  return value
}

const integerAt = (name: string, largest: number) => (value: unknown) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > largest) {
    throw new ShapeError(name)
  }
  return value
}

/** Ended at the first NUL and trimmed, like the same text on chain. */
const textAt = (name: string) => (value: unknown) => {
  if (typeof value !== 'string' || value.length > MAX_TEXT) throw new ShapeError(name)
  const end = value.indexOf('\0')
  return (end < 0 ? value : value.slice(0, end)).trim()
}

const addressAt = (name: string) => (value: unknown) => {
  if (typeof value !== 'string' || parseSolanaAddress(value) === undefined) throw new ShapeError(name)
  return value
}
