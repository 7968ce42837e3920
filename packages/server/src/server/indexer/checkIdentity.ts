import type { ChainIdentity } from '../../index/port/status.ts'
import type { Hash } from '../../model/evm.ts'
import { ConfigError } from '../../platform/errors.ts'

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
