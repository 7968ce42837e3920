import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { UpstreamError } from '../../nodes/upstreams/upstreamError.ts'
import { backOffMs, pause } from '../../platform/concurrency/pause.ts'
import { canaryOf, type PinnedBlock, requireCanary } from './pinBlock.ts'

/** Holds one node during one snapshot, which is not begun anew for a bad moment, nor held up by what takes too long. */
export type PatientNode = ReturnType<typeof createPatientNode>

/** Maximum of repeats after a reset connection or a short "come back later". */
const maxRepeats = 3
const backOff = { firstMs: 50, maxMs: 2_000 }

export function createPatientNode(node: EvmNode, block: PinnedBlock, timeoutMs: number) {
  let repeatsLeft = maxRepeats

  async function repeating<T>(ask: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        const mayPass = error.fault === 'unreachable' || error.fault === 'throttled'
        const waitMs = error.retryAfterMs ?? backOffMs(backOff, failures)
        if (!mayPass || waitMs > backOff.maxMs || repeatsLeft-- <= 0) throw error
        await pause(waitMs)
      }
    }
  }

  /** Checks that the node reads the block: what it did not answer was the fault of the call. @throws like `ask`. */
  async function requireWell(): Promise<void> {
    // It may still be busy with what was given up.
    const outcomes = await repeating(() => node.within(timeoutMs * 2, own => own.batch([canaryOf(block)])))
    if (outcomes === undefined) throw new UpstreamError('an upstream did not answer in time', 'timedOut')
    requireCanary(outcomes[0], block)
  }

  return {
    requireWell,
    /**
     * @returns `undefined` when it took too long, although the node is well.
     * @throws {BlockLostError} the node does not read the block any more.
     * @throws {UpstreamError} the node failed.
     */
    async ask<T>(ask: (node: EvmNode) => Promise<T>): Promise<{ readonly value: T } | undefined> {
      const done = await repeating(() => node.within(timeoutMs, async own => ({ value: await ask(own) })))
      if (done !== undefined) return done
      await requireWell()
      return undefined
    }
  }
}
