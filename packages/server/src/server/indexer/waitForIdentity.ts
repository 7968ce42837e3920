import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainIdentity } from '../../index/port/status.ts'
import { ConfigError, NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { ChainSource } from './chainSource.ts'
import { checkIdentity } from './checkIdentity.ts'
import { describeProblem } from './describeProblem.ts'
import { createRetryPauses } from './retryPauses.ts'
import type { StatusBoard } from './statusBoard.ts'

/**
 * Which chain the node serves, once it has said the same twice in a row: a new index is bound to it for good, and one
 * wrong answer must not decide that.
 * @returns `undefined` when `signal` ended the waiting.
 */
export async function waitForIdentity(
  source: Pick<ChainSource, 'identity'>,
  chainId: number,
  board: StatusBoard,
  logger: Logger,
  signal: AbortSignal
): Promise<ChainIdentity | undefined> {
  const pauses = createRetryPauses()
  while (!signal.aborted) {
    try {
      const { chainId: named, genesisHash } = await source.identity(signal)
      checkIdentity({ chainId: named, genesisHash }, { chainId })
      const again = await source.identity(signal)
      if (again.chainId !== named || again.genesisHash !== genesisHash) {
        throw new NodeContradictionError(
          `the node names two genesis blocks, ${genesisHash} and ${again.genesisHash}; expected the same twice`
        )
      }
      return { chainId, genesisHash }
    } catch (error) {
      if (signal.aborted) break
      const problem = describeProblem(error)
      board.change({ phase: 'stalled', problem })
      const waitMs = Math.round(pauses.next(error))
      const fields = { problem, attempt: pauses.failures(), waitMs }
      if (pauses.isMilestone()) {
        if (error instanceof ConfigError) logger.error('the node serves another chain', fields)
        else logger.warn('the node cannot be used yet', fields)
      }
      await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}
