import { IndexDamagedError, type MissingPart } from '@chain-data/index'
import { includeHeader, type RootPart, rootParts } from '../../../model/rootParts.ts'
import type { Audit, CheckVerdict, IndexedAccount } from './Audit.ts'
import { checkHeaders, type VerifiedBlocks } from './checkHeaders.ts'

export interface UnalteredResult {
  readonly verdict: CheckVerdict
  /** Blocks of the index with a record of the account, or an event. */
  readonly blocks: number
  /** Those of which all agrees with its checksums. */
  readonly checksums: number
  /** Those that agree with their headers. */
  readonly roots: number
  /** All blocks from this one on were held against their headers when they were stored. */
  readonly rootsFrom?: number
  readonly unknownParts: readonly RootPart[]
}

/** How blocks of a chain are held against their headers. */
export interface HeaderChecking {
  /** Parts that are recomputed on this chain; none where its encoding is not known. */
  readonly parts: readonly RootPart[]
  /** What of its blocks cannot be recomputed, where that is known. */
  readonly unknownEncoding?: string | undefined
  /** The blocks to be read again for this certificate; absent: the caller did not ask for it. */
  readonly blocks?: VerifiedBlocks
}

/**
 * Checks that what is stored of the account is what was once stored, by its checksums, and what headers commit to, where blocks
 * were held against them when they were stored, or are for this certificate.
 */
export async function checkUnaltered(
  audit: Audit,
  { parts, unknownEncoding, blocks }: HeaderChecking
): Promise<UnalteredResult> {
  const { heights } = audit.indexed.sums
  const { rootsFrom } = audit.indexed.coverage
  const damages = damagesOf(audit.indexed)
  const damaged = new Set(damages.map(({ damage }) => damage.block))
  // Older history is in no index.
  const checksums = Math.max(0, heights.countFrom(audit.indexed.indexedFrom) - damaged.size)
  const atStoring = heights.countFrom(rootsFrom)
  const base = {
    blocks: heights.size,
    checksums,
    ...(rootsFrom !== undefined && { rootsFrom }),
    unknownParts: rootParts.filter(part => !parts.includes(part))
  }
  // What is read again would end at the same row.
  if (damages.length > 0) return { verdict: 'failed', ...base, roots: Math.min(atStoring, checksums) }
  if (blocks === undefined) {
    const isShown = checksums === heights.size
    if (!isShown) checksumsUnknown(audit, heights.size - checksums)
    return { verdict: isShown ? 'proven' : 'unprovable', ...base, roots: atStoring }
  }
  if (!includeHeader(parts)) {
    audit.findings.add({
      kind: 'ROOTS_UNKNOWN',
      message: `How this chain encodes its blocks is not known, so they cannot be held against their headers${unknownEncoding === undefined ? '' : `: ${unknownEncoding}`}.`
    })
    return { verdict: 'unprovable', ...base, roots: atStoring }
  }
  const found = await checkHeaders(audit, blocks)
  const verdict = found.isAltered ? 'failed' : found.isComplete ? 'proven' : 'unprovable'
  return { verdict, ...base, roots: found.isAltered ? found.agreeing : Math.max(found.agreeing, atStoring) }
}

/** Lists everything that does not agree with its checksum. */
export function damagesOf({ sums, damages }: IndexedAccount): readonly IndexDamagedError[] {
  const altered = sums.missing.flatMap(({ part, position }) => {
    if (!isAlteredPart(part)) return []
    const damage = {
      part: part === 'alteredBlock' ? 'block' : 'record',
      block: position.blockNumber
    } as const
    return [new IndexDamagedError(damage, 'its checksum differs')]
  })
  return [...altered, ...damages]
}

function isAlteredPart(part: MissingPart['part']): boolean {
  return part === 'alteredRecord' || part === 'alteredBlock'
}

function checksumsUnknown({ findings }: Audit, count: number): void {
  findings.add({
    kind: 'CHECKSUMS_UNKNOWN',
    message: `Records of ${count} ${count === 1 ? 'block' : 'blocks'} were written without checksums: whether they were altered does not show.`
  })
}
