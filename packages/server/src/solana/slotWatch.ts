import { type SolanaState, secondsSince } from '../model/sync.ts'
import type { Clock } from '../platform/clock.ts'
import { ChainDataError } from '../platform/errors.ts'
import { present } from '../platform/present.ts'
import { scrubText } from '../platform/scrubText.ts'

/** Knows whether a cluster's node answers, without anybody asking. */
export interface SlotWatch {
  /** Returns what the last check found. Never waits. */
  state(): SolanaState
  /** Checks now, unless a check is under way: for when a call to the node has failed. */
  check(): void
  /** Ends the checks. */
  close(): void
}

const everyMs = 10_000
const deadlineMs = 5_000
const maxProblemCharacters = 300

/**
 * Checks the node of a cluster, which is never indexed, at once and every 10 seconds from then on.
 * @param options.currentSlot - asks the node for its newest slot.
 */
export function createSlotWatch(options: {
  readonly chainId: number
  readonly currentSlot: (call: {
    readonly signal: AbortSignal
    readonly deadlineMs: number
  }) => Promise<number>
  readonly clock: Clock
}): SlotWatch {
  const { chainId, currentSlot, clock } = options
  const closing = new AbortController()
  let phase: SolanaState['phase'] = 'starting'
  let problem: string | undefined
  let newest: { readonly slot: number; readonly sinceMs: number } | undefined
  let answeredAtMs: number | undefined
  let stalledSinceMs: number | undefined
  let isChecking = false

  async function checkOnce(): Promise<void> {
    isChecking = true
    try {
      const slot = await currentSlot({ signal: closing.signal, deadlineMs: clock.now() + deadlineMs })
      answeredAtMs = clock.now()
      if (slot !== newest?.slot) newest = { slot, sinceMs: answeredAtMs }
      phase = 'following'
      problem = undefined
      stalledSinceMs = undefined
    } catch (error) {
      phase = 'stalled'
      problem = scrubText(
        error instanceof ChainDataError ? error.message : 'internal error',
        maxProblemCharacters
      )
      stalledSinceMs ??= clock.now()
    } finally {
      isChecking = false
    }
  }

  function check(): void {
    if (!isChecking && !closing.signal.aborted) void checkOnce()
  }

  check()
  const timer = setInterval(check, everyMs).unref()
  return {
    state() {
      const ageOf = (thenMs: number | undefined) =>
        thenMs === undefined ? undefined : secondsSince(thenMs, clock.now())
      return {
        ...{ chainId, phase, ready: phase === 'following', degraded: phase === 'stalled' },
        ...present({
          head: newest?.slot,
          headAgeSeconds: ageOf(newest?.sinceMs),
          answeredSecondsAgo: ageOf(answeredAtMs),
          stalledSeconds: ageOf(stalledSinceMs),
          problem
        })
      }
    },
    check,
    close() {
      clearInterval(timer)
      closing.abort(new Error('closed'))
    }
  }
}
