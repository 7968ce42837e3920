import type { SolanaStatus } from '../model/sync.ts'
import type { Clock } from '../platform/clock.ts'
import { ChainDataError } from '../platform/errors.ts'
import { scrubText } from '../platform/scrubText.ts'

/** Knows whether a cluster's node answers, as of the last check. */
export interface SlotWatch {
  /** Returns what the last check found; begins a new one when that was a while ago. Never waits. */
  status(): SolanaStatus
  /** Ends a check under way. */
  close(): void
}

const checkAfterMs = 5_000
/** An older result is not reported. */
const staleAfterMs = 15_000
const deadlineMs = 5_000
const maxProblemCharacters = 300

/**
 * A cluster is not followed, so its node is asked only when the health page is read.
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
  const unknown: SolanaStatus = { chainId, phase: 'starting' }
  const closing = new AbortController()
  let found = unknown
  let foundAtMs = Number.NEGATIVE_INFINITY
  let isChecking = false

  async function check(): Promise<void> {
    isChecking = true
    try {
      const head = await currentSlot({ signal: closing.signal, deadlineMs: clock.now() + deadlineMs })
      found = { chainId, phase: 'following', head }
    } catch (error) {
      const text = error instanceof ChainDataError ? error.message : 'internal error'
      found = { chainId, phase: 'stalled', problem: scrubText(text, maxProblemCharacters) }
    } finally {
      foundAtMs = clock.now()
      isChecking = false
    }
  }

  return {
    status() {
      const ageMs = clock.now() - foundAtMs
      if (ageMs >= checkAfterMs && !isChecking && !closing.signal.aborted) void check()
      return ageMs >= staleAfterMs ? unknown : found
    },
    close: () => closing.abort(new Error('closed'))
  }
}
