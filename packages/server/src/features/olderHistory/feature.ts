import { type Address, type BlockRef, openDeepHistoryCaches } from '@chain-data/index'
import { createEvmSource } from '../../evm/blocks/evmSource.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Feature } from '../../server/feature/Feature.ts'
import type { OlderHistory } from '../../server/methods/OlderHistory.ts'
import { createDeepHistory } from './below/createDeepHistory.ts'
import { nodeChecks } from './nodeChecks.ts'
import { openBelowIndex, whoAnswersBelow } from './openBelowIndex.ts'

/** Accounts whose older history is kept while the index gets older blocks. */
const rememberedAnchors = 4_096

/** Timeout at the start of asking nodes what they offer; a call that needs to know asks again. */
const firstLookMs = 30_000

/** Histories begin at the first indexed block then. */
const noDeepHistory = 'no node lists the transactions of an address or has old states, as deepHistory needs'

/** History older than the index of a chain, read from its nodes on demand. */
export const olderHistory: Feature = {
  name: 'older-history',
  settings: ['deepHistory', 'history.deepCacheBytes', 'chains.evm.deepHistory'],
  nodeChecks,
  open({ config, stores, evm, logger }) {
    const caches = openDeepHistoryCaches(stores.location, {
      ...{ bound: config.history.deepCacheBytes, logger, onDamage: stores.countCacheDamage('deep_history') }
    })
    const histories = new Map<number, OlderHistory>()
    for (const { chainId, settings, rpc } of evm.values()) {
      const { deepHistory, finality, waivers, traces, startBlock } = settings
      if (deepHistory === 'off') continue
      const deep = createDeepHistory({
        ...{ rpc, traces, cache: caches.ofChain(chainId) },
        openSource: metered => createEvmSource({ rpc: metered, finality, waivers, traces }),
        maxCalls: config.deepHistory.maxCalls ?? Number.POSITIVE_INFINITY
      })
      const anchors = new BoundedMap<Address, BlockRef>(rememberedAnchors)
      const chain = { chainId, deep, anchors, isStrict: deepHistory === 'strict' }
      histories.set(chainId, {
        isStrict: chain.isStrict,
        answeredBy: deep.answeredBy,
        whoAnswers: (snapshot, signal) => whoAnswersBelow(deep, snapshot, signal),
        open: (snapshot, address, status, context, rule) =>
          openBelowIndex({ ...chain, ...rule }, snapshot, address, status, context)
      })
      // Not awaited: the status shows who answers as soon as it is known.
      deep.findOut(AbortSignal.timeout(firstLookMs)).then(
        answerer => {
          if (answerer === 'none' && startBlock !== 0) logger.warn(noDeepHistory, { chainId })
        },
        () => undefined
      )
    }
    return { services: { older: chainId => histories.get(chainId) }, close: caches.close }
  }
}
