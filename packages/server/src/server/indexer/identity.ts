import { type ChainIdentity, describeOtherGenesis, type Hash } from '@chain-data/index'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { ConfigError, NodeContradictionError } from '../../platform/errors.ts'

/**
 * Asks the node which chain it serves, twice: a new index is bound to it for good, and one wrong answer must not decide
 * that.
 * @throws {ConfigError} the node serves another chain.
 * @throws {NodeContradictionError} it names two genesis blocks.
 */
export async function readIdentity(
  source: Pick<EvmSource, 'identity'>,
  chainId: number,
  signal: AbortSignal
): Promise<ChainIdentity> {
  const found = await source.identity(signal)
  const { genesisHash } = found
  checkIdentity(found, { chainId })
  const again = await source.identity(signal)
  if (again.chainId !== found.chainId || again.genesisHash !== genesisHash) {
    throw new NodeContradictionError(
      `the node names two genesis blocks, ${genesisHash} and ${again.genesisHash}; expected the same twice`
    )
  }
  return { chainId, genesisHash }
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
    const difference = describeOtherGenesis(chainId, found.genesisHash, genesisHash)
    throw new ConfigError(`chain ${chainId}: the node ${difference}`, { chainId })
  }
}
