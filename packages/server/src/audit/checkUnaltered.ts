import { type RootPart, rootParts } from '../model/rootParts.ts'
import type { Audit, CheckVerdict } from './Audit.ts'
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
  const checkedFrom: number | undefined = undefined
  const checksums = heights.countFrom(checkedFrom)
  const atStoring = heights.countFrom(
    rootsFrom === undefined || checkedFrom === undefined ? undefined : Math.max(rootsFrom, checkedFrom)
  )
  const base = {
    blocks: heights.size,
    checksums,
    ...(rootsFrom !== undefined && { rootsFrom }),
    unknownParts: rootParts.filter(part => !parts.includes(part))
  }
  if (blocks === undefined) {
    const isShown = checksums === heights.size
    if (!isShown) checksumsUnknown(audit, heights.size - checksums)
    return { verdict: isShown ? 'proven' : 'unprovable', ...base, roots: atStoring }
  }
  if (parts.length === 0) {
    audit.findings.add({
      kind: 'ROOTS_UNKNOWN',
      message: `How this chain encodes its blocks is not known, so they cannot be held against their headers${unknownEncoding === undefined ? '' : `: ${unknownEncoding}`}.`
    })
    return { verdict: 'unprovable', ...base, roots: atStoring }
  }
  const { agreeing, isAltered, isComplete } = await checkHeaders(audit, blocks)
  const verdict = isAltered ? 'failed' : isComplete ? 'proven' : 'unprovable'
  return { verdict, ...base, roots: isAltered ? agreeing : Math.max(agreeing, atStoring) }
}

function checksumsUnknown({ findings }: Audit, count: number): void {
  findings.add({
    kind: 'CHECKSUMS_UNKNOWN',
    message: `Records of ${count} ${count === 1 ? 'block' : 'blocks'} were written without checksums: whether they were altered does not show.`
  })
}
