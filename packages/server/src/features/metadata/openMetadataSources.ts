import { systemClock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Config } from '../../server/config/config.ts'
import { createGuardedFetch } from './guardedFetch.ts'
import { createPrices } from './prices.ts'
import { createTokenLists } from './tokenLists.ts'

/** Builds the fetcher for hosts of strangers, the token lists, which are not read yet, and the host's prices, if it names any. */
export function openMetadataSources(
  { metadata, chains }: Pick<Config, 'metadata' | 'chains'>,
  { logger, timeoutMs }: { readonly logger: Logger; readonly timeoutMs?: number }
) {
  const { allowHosts, ipfsGateways, arweaveGateways, tokenLists: sources, tokenListRefreshMs } = metadata
  const gateways = { ipfs: ipfsGateways, arweave: arweaveGateways }
  const guardedFetch = createGuardedFetch({
    allowHosts,
    ...(timeoutMs === undefined ? {} : { limits: { timeoutMs } })
  })
  const tokenLists = createTokenLists({
    ...{ sources, guardedFetch, gateways, allowHosts, logger },
    chainIds: chains.evm.map(({ chainId }) => chainId),
    refreshMs: tokenListRefreshMs
  })
  const prices =
    metadata.prices === null
      ? undefined
      : createPrices({ source: metadata.prices, logger, clock: systemClock })
  return { guardedFetch, gateways, tokenLists, prices }
}
