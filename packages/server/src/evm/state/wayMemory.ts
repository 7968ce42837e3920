import { type BatchSize, createBatchSize } from '../../nodes/upstreams/batchSize.ts'
import type { Clock } from '../../platform/clock.ts'

/**
 * How many reads travel in one `eth_call`, best first: with our code at an address by a state override, with our code as
 * initcode that reverts with the results, or not at all: plain batches of one `eth_call` each.
 */
export const wayNames = ['stateOverride', 'deployless', 'plain'] as const
export type WayName = (typeof wayNames)[number]

/** How a block is named; a way may work with one and not with the other. */
export type BlockNaming = 'byHash' | 'byNumber'

/** A way that was seen to work at one upstream. */
export interface FoundWay {
  readonly name: WayName
  /** The most gas that one call may name there. */
  readonly gas: number
}

/** What one look at an upstream has shown. */
export interface Findings {
  /** Best first; `plain` is always the last one. */
  readonly ways: readonly FoundWay[]
  /** How much gas it works off in a second, at its worst. */
  readonly gasPerSecond: number
}

/** What has been found out about one upstream. */
export interface WayMemory {
  /** `undefined` when it is time to look (again). */
  recall(naming: BlockNaming): Findings | undefined
  remember(naming: BlockNaming, findings: Findings): void
  /** A way that was found has stopped working; it is left out until the next look, which is soon. */
  lost(naming: BlockNaming, name: WayName): void
  /** Share of the largest exchange, in sixteenths; halves when the node refuses one that should work, grows again in time. */
  readonly size: BatchSize
  /** Reads in one `eth_call`. */
  calls(): number
  /** Bytes of results of one `eth_call`. */
  resultBytes(): number
}

/** A node may be upgraded: a way that is missing is tried again after this time. */
const forgetAfterMs = 10 * 60_000
/** What has worked before is more likely to be missing for a moment only, or behind a balancer of several. */
const forgetLostAfterMs = 5_000
const wholeSize = 16
const mostCalls = 512
const mostResultBytes = 1024 * 1024

export function createWayMemory(clock: Clock): WayMemory {
  const known = new Map<BlockNaming, { readonly findings: Findings; readonly untilMs: number }>()
  const size = createBatchSize(wholeSize, clock)
  return {
    recall(naming) {
      const entry = known.get(naming)
      return entry !== undefined && clock.now() < entry.untilMs ? entry.findings : undefined
    },
    remember(naming, findings) {
      const isWhole = findings.ways.length === wayNames.length
      const untilMs = isWhole ? Number.POSITIVE_INFINITY : clock.now() + forgetAfterMs
      known.set(naming, { findings, untilMs })
    },
    lost(naming, name) {
      const findings = known.get(naming)?.findings
      if (findings === undefined) return
      const ways = findings.ways.filter(way => way.name !== name)
      known.set(naming, { findings: { ...findings, ways }, untilMs: clock.now() + forgetLostAfterMs })
    },
    size,
    calls: () => (mostCalls * size.current()) / wholeSize,
    resultBytes: () => (mostResultBytes * size.current()) / wholeSize
  }
}
