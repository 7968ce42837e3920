import { type Damage, IndexDamagedError } from '@chain-data/index'
import type { Logger } from '../../platform/logger.ts'
import type { Feature } from '../../server/feature/Feature.ts'
import { addEventMetrics } from './eventFigures.ts'
import { createReplayer } from './live/createReplayer.ts'
import { createWatchAddresses } from './svc_watchAddresses.ts'

/** Every change of the histories of accounts, as a stream of events. */
export const liveStreams: Feature = {
  name: 'live-streams',
  settings: ['limits.streams'],
  open({ config, stores, evm, reportDamage, formatAddress, clock, logger }) {
    const replayer = createReplayer({ locationOf: stores.locationOf, logger })
    const watched = createWatchAddresses({
      ...{ chains: evm, serveWhileSyncing: config.history.serveWhileSyncing, formatAddress, clock },
      replay: replayer.replay,
      onFailure: warnOfFailures(logger, reportDamage)
    })
    return {
      handlers: { svc_watchAddresses: watched.handler },
      addMetrics: page => addEventMetrics(page, watched.figures),
      close: replayer.close
    }
  }
}

/** Failures to read a log of changes come each second, of each stream that reads it for itself: one of them in a minute is logged. */
function warnOfFailures(
  logger: Logger,
  reportDamage: (chainId: number, damage: Damage) => void
): (chainId: number, failure: unknown) => void {
  const warnedMs = new Map<number, number>()
  return (chainId, failure) => {
    if (performance.now() - (warnedMs.get(chainId) ?? Number.NEGATIVE_INFINITY) < 60_000) return
    warnedMs.set(chainId, performance.now())
    if (failure instanceof IndexDamagedError) reportDamage(chainId, failure.damage)
    logger.warn('streams of events wait for the index', { chainId, error: failure })
  }
}
