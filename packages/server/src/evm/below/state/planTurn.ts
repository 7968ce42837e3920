import type { StateRead } from './createOldState.ts'
import type { BlockEffect } from './explainBlock.ts'
import type { OwnPart, Part } from './walkDown.ts'

/** What is asked for in one exchange. */
export interface TurnPlan {
  readonly reads: readonly StateRead[]
  /** Blocks to read. */
  readonly blocks: readonly number[]
  /** Nonces whose blocks are asked for. */
  readonly nonces: readonly bigint[]
  /** About how many calls it takes to find the wanted records. */
  readonly callsLeft: number
}

interface PlanOptions {
  /** About how many records are searched for. */
  readonly wanted: number
  /** Search with the fewest calls; false: with the fewest exchanges. */
  readonly isThrifty: boolean
  /** The account is known to have a key. */
  readonly hasKey: boolean
  readonly effects: ReadonlyMap<number, BlockEffect>
  /** Reports whether the block of a nonce can be asked for, and was not yet. */
  mayLookUp(nonce: bigint): boolean
}

interface OpenPart {
  readonly kind: 'nonce' | 'balance'
  readonly low: number
  readonly high: number
  /** How many blocks are searched for in it, at least. */
  readonly hidden: number
}

/** Heights that are read within all open parts together, about: what one page of a caller may cost in one exchange. */
const pageProbes = 64
const thriftyProbes = 2
/** Within one part. More would save fewer exchanges than they cost. */
const maxProbes = 31
const minProbes = 3

/** Plans which heights of an account's past to read next, so that the newest `wanted` records are found. */
export function planTurn(parts: Iterable<Part>, options: PlanOptions): TurnPlan {
  const { wanted, isThrifty, hasKey, effects, mayLookUp } = options
  const [blocks, nonces, open, ends]: [number[], bigint[], OpenPart[], number[]] = [[], [], [], []]
  let count = 0
  /** Records of blocks that are believed once what is below them is known. */
  let waiting = 0
  let isKeyShown = hasKey
  let lastOwn: OwnPart | undefined
  const expect = (records: number) => {
    count += waiting + records
    waiting = 0
  }
  for (const part of parts) {
    if ((count >= wanted && isKeyShown) || part.kind === 'falling') break
    if (part.kind === 'ends') ends.push(...part.heights)
    else if (part.kind === 'bottom') expect(0)
    else if (part.kind === 'openBalance') {
      open.push({ ...part, kind: 'balance', hidden: 1 })
      expect(1)
    } else if (part.kind === 'openNonce') {
      const { low, high } = part
      const hidden = Number(high.value - low.value)
      const asked = noncesDown(low.value, high.value, wanted - count).filter(mayLookUp)
      nonces.push(...asked)
      if (asked.length === 0) open.push({ kind: 'nonce', low: low.height, high: high.height, hidden })
      expect(hidden)
      isKeyShown = true
    } else {
      const effect = effects.get(part.height)
      if (effect === undefined) blocks.push(part.height)
      if (part.kind === 'own') lastOwn = part
      isKeyShown ||= part.kind === 'own'
      const records = effect?.records.length ?? (part.kind === 'own' ? Number(part.end - part.first) : 1)
      if (part.kind === 'own' && effect !== undefined && part.isUneven === undefined) waiting += records
      else expect(records)
    }
  }
  const isLocated = open.length + nonces.length === 0
  // Where the last of them is being read, what was paid down to there is asked about in the same exchange.
  if (isLocated && blocks.length > 0 && lastOwn !== undefined) ends.push(lastOwn.quietTo)
  const reads: StateRead[] = isLocated ? ends.map(height => ({ kind: 'balance', height })) : []
  const least = isThrifty ? 1 : minProbes
  const most = (isThrifty ? thriftyProbes : pageProbes) / Math.max(1, open.length)
  const probes = Math.max(least, Math.min(maxProbes, Math.floor(most)))
  for (const { kind, low, high } of open)
    for (const height of heightsBetween(low, high, probes)) reads.push({ kind, height })
  const costs = open.map(({ low, high, hidden }) => {
    const found = Math.max(1, Math.min(wanted, hidden))
    return found * Math.log2(1 + (high - low) / found) * (probes / Math.log2(probes + 1))
  })
  return { reads, blocks, nonces, callsLeft: Math.ceil(costs.reduce((sum, cost) => sum + cost, 0)) }
}

function noncesDown(low: bigint, high: bigint, atMost: number): readonly bigint[] {
  const length = Math.max(0, Math.min(Number(high - low), atMost))
  return Array.from({ length }, (_, position) => high - 1n - BigInt(position))
}

/** Evenly spread, without the ends. */
function heightsBetween(low: number, high: number, atMost: number): readonly number[] {
  const parts = Math.min(atMost + 1, high - low)
  return Array.from(
    { length: parts - 1 },
    (_, position) => low + Math.floor(((high - low) * (position + 1)) / parts)
  )
}
