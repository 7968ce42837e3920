import type { StateRead } from './createOldState.ts'
import { listOpen, type OpenStretch, type SearchState } from './listOpen.ts'
import type { Part } from './walkDown.ts'

/** What is asked for in one exchange. */
export interface TurnPlan {
  readonly reads: readonly StateRead[]
  /** Blocks to read. */
  readonly blocks: readonly number[]
  /** Nonces whose blocks are asked for. */
  readonly nonces: readonly bigint[]
  /** About how many calls it takes to find the wanted records. */
  readonly callsLeft: number
  /** Down to here they are searched for; absent: nothing is open. */
  readonly reach: number | undefined
}

interface PlanOptions extends SearchState {
  /** Search with the fewest calls; false: with the fewest exchanges. */
  readonly isThrifty: boolean
}

/** Heights that are read in one exchange, about: what fits into one batch, with some calls to spare. */
const pageProbes = 80
/** Within one stretch. More would save fewer exchanges than they cost. */
const maxProbes = 15
const minProbes = 3

/** Plans which heights of an account's past to read next, so that the newest `wanted` records are found. */
export function planTurn(parts: Iterable<Part>, { isThrifty, ...state }: PlanOptions): TurnPlan {
  const { stretches, blocks, nonces, ends, sides } = listOpen(parts, state)
  const isLocated = stretches.length + nonces.length === 0
  const reads: StateRead[] = sides.map(height => ({ kind: 'nonce', height }))
  if (isLocated) reads.push(...ends.map(height => ({ kind: 'balance', height }) as const))
  const all = stretches.reduce((sum, { expected }) => sum + expected, 0)
  let callsLeft = 0
  for (const stretch of stretches) {
    const share = Math.floor((pageProbes * stretch.expected) / all)
    const probes = isThrifty ? 1 : Math.max(minProbes, Math.min(maxProbes, share))
    reads.push(...readsIn(stretch, probes))
    callsLeft += costOf(stretch, isThrifty ? 1 : minProbes)
  }
  const lows = [...stretches.map(({ low }) => low), ...blocks]
  const reach = lows.length > 0 ? Math.min(...lows) : undefined
  return { reads, blocks, nonces, callsLeft: Math.ceil(callsLeft), reach }
}

function readsIn({ kind, low, high, isCut }: OpenStretch, probes: number): readonly StateRead[] {
  const within = heightsBetween(low, high, isCut ? probes - 1 : probes)
  const reads: StateRead[] = within.map(height => ({ kind, height }))
  return isCut ? [...reads, { kind: 'nonce', height: low }, { kind: 'balance', height: low }] : reads
}

/** Calls that it takes to find what is in a stretch with so many probes in each part of it. */
function costOf({ low, high, expected }: OpenStretch, probes: number): number {
  return expected * Math.log2(1 + (high - low) / expected) * (probes / Math.log2(probes + 1))
}

/** Evenly spread, without the ends. */
function heightsBetween(low: number, high: number, atMost: number): readonly number[] {
  const parts = Math.max(1, Math.min(atMost + 1, high - low))
  return Array.from(
    { length: parts - 1 },
    (_, position) => low + Math.floor(((high - low) * (position + 1)) / parts)
  )
}

/** Steps down from the top, each twice as long: they show how dense the account's past is, wherever it is. */
export function ladderFrom(top: number): readonly StateRead[] {
  const heights = []
  for (let below = 1; below < top; below *= 2) heights.push(top - below)
  return heights.flatMap(height => (['nonce', 'balance'] as const).map(kind => ({ kind, height })))
}
