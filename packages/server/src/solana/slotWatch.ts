import { ChainDataError } from '@chain-data/index'
import { type SolanaState, secondsSince } from '../model/sync.ts'
import { nextStepFor } from '../nodes/upstreams/nextSteps.ts'
import type { Clock } from '../platform/clock.ts'
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
/** Slots take 0.4 seconds: a cluster that has had none for so long has stopped. */
const stuckAfterMs = 60_000

/**
 * Checks the node of a cluster, which is never indexed, at once and every 10 seconds from then on.
 * @param options.currentSlot - asks the node for its newest slot.
 * @param options.onChange - called when the cluster stalls, with the problem, and when it goes on.
 */
export function createSlotWatch(options: {
  readonly chainId: number
  readonly currentSlot: (call: {
    readonly signal: AbortSignal
    readonly deadlineMs: number
  }) => Promise<number>
  readonly clock: Clock
  readonly onChange?: (problem: string | undefined) => void
}): SlotWatch {
  const { chainId, currentSlot, clock, onChange = () => {} } = options
  const closing = new AbortController()
  let phase: SolanaState['phase'] = 'starting'
  let problem: string | undefined
  let newest: { readonly slot: number; readonly sinceMs: number } | undefined
  let answeredAtMs: number | undefined
  let stalledSinceMs: number | undefined
  let isChecking = false
  let isAnswering = false

  async function checkOnce(): Promise<void> {
    isChecking = true
    try {
      const slot = await currentSlot({ signal: closing.signal, deadlineMs: clock.now() + deadlineMs })
      isAnswering = true
      answeredAtMs = clock.now()
      if (slot !== newest?.slot) newest = { slot, sinceMs: answeredAtMs }
      if (answeredAtMs - newest.sinceMs < stuckAfterMs) goOn()
      else stall(`the node names slot ${slot} and no newer one`, newest.sinceMs)
    } catch (error) {
      if (closing.signal.aborted) return
      isAnswering = false
      const [message, step] =
        error instanceof ChainDataError ? [error.message, nextStepFor(error)] : ['internal error']
      stall(scrubText(message, maxProblemCharacters) + (step === undefined ? '' : `; ${step}`), clock.now())
    } finally {
      isChecking = false
    }
  }

  function stall(why: string, sinceMs: number): void {
    const isNew = phase !== 'stalled'
    phase = 'stalled'
    problem = why
    stalledSinceMs ??= sinceMs
    if (isNew) onChange(why)
  }

  function goOn(): void {
    const wasStalled = phase === 'stalled'
    phase = 'following'
    problem = undefined
    stalledSinceMs = undefined
    if (wasStalled) onChange(undefined)
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
        ...{ chainId, phase, ready: isAnswering, degraded: phase === 'stalled' },
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
