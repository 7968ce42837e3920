import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import type { ChainIdentity } from '../../index/port/status.ts'
import type { Hash } from '../../model/evm.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { ConfigError, NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { createRetryPauses } from './retryPauses.ts'
import { describeProblem, type StatusBoard } from './status.ts'

/**
 * Which chain the node serves, once it has said the same twice in a row: a new index is bound to it for good, and one
 * wrong answer must not decide that.
 * @returns `undefined` when `signal` ended the waiting.
 */
export async function waitForIdentity(
  source: Pick<EvmSource, 'identity'>,
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
      await pause(waitMs, signal)
    }
  }
  return undefined
}

/**
 * Refuses a node that serves another chain than the one configured and indexed.
 * @param expected.genesisHash - absent while nothing is indexed.
 * @throws {ConfigError} naming what differs.
 */
export function checkIdentity(
  found: { readonly chainId: bigint; readonly genesisHash: Hash },
  expected: Pick<ChainIdentity, 'chainId'> & Partial<ChainIdentity>
): void {
  const { chainId, genesisHash } = expected
  if (found.chainId !== BigInt(chainId)) {
    throw new ConfigError(`chain ${chainId}: the node serves chain ${found.chainId}`, { chainId })
  }
  if (genesisHash !== undefined && found.genesisHash !== genesisHash) {
    throw new ConfigError(
      `chain ${chainId}: the node's genesis block is ${found.genesisHash}, the index is of ${genesisHash}`,
      { chainId }
    )
  }
}
