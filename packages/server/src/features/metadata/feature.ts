import { openMetadataCache } from '@chain-data/index'
import type { Feature } from '../../server/feature/Feature.ts'
import { addMetadataMetrics } from './metadataFigures.ts'
import { createMetadataService } from './metadataService.ts'
import { openMetadataSources } from './openMetadataSources.ts'

/** What tokens are called and show outside the chain, and what a host says of their prices: documents, token lists, prices. */
export const tokenMetadata: Feature = {
  name: 'token-metadata',
  settings: ['metadata'],
  open({ config, stores, logger }) {
    const { guardedFetch, gateways, tokenLists, prices } = openMetadataSources(config, { logger })
    const { allowHosts, memoryBytes, freshForMs, gatewayStaggerMs, cacheBytes, urlCacheBytes } =
      config.metadata
    const cache = openMetadataCache(stores.location, {
      ...{ bounds: { content: cacheBytes, url: urlCacheBytes }, logger },
      onDamage: stores.countCacheDamage('metadata')
    })
    const documents = createMetadataService({
      ...{ guardedFetch, gateways, allowHosts, cache, cacheBytes: memoryBytes, freshForMs, gatewayStaggerMs }
    })
    // Not awaited: logos may come late, the server must not.
    tokenLists.start().catch((error: unknown) => logger.error('token lists failed', { error }))
    return {
      services: { readDocuments: documents.readAll, tokenLists, ...(prices && { prices }) },
      addMetrics: page => addMetadataMetrics(page, documents.figures),
      async close() {
        documents.close()
        await cache.close()
        tokenLists.close()
      }
    }
  }
}
