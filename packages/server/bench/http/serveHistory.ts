/**
 * The server under test, a process of its own: `serveHistory.ts <store folder> [calls a second of a project]`. Tells its URL
 * as a message.
 */

import { openSqliteReader } from '@chain-data/index/test'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { createReplayer } from '../../src/features/liveStreams/live/createReplayer.ts'
import { createGetTransactionsByAddress } from '../../src/server/methods/svc_getTransactionsByAddress.ts'
import { createWatchAddresses } from '../../src/features/liveStreams/svc_watchAddresses.ts'
import { projects, startService } from '../../test/http/startService.ts'
import { chainId } from './dataset.ts'
import type { Listening } from './messages.ts'
import { tellUsage } from './tellUsage.ts'

const [, , folder = '', quota = '1e9'] = process.argv
const requestsPerSecond = Number(quota)
const reader = await openSqliteReader(folder, chainId)
const status = () => ({
  chainId,
  phase: 'following' as const,
  head: 10,
  indexedFrom: 0,
  backfilled: true,
  degraded: false,
  poolCovered: true,
  poolSeenAtMs: Date.now()
})
const formatAddress = createAddressFormat()
const chains = new Map([[chainId, { chainId, reader, status }]])
const clock = { now: Date.now }
const logger = createLogger({ level: 'info' })
const { replay } = createReplayer({ locationOf: () => ({ kind: 'sqlite', folder }), logger })
const watched = createWatchAddresses({
  replay,
  ...{ chains, serveWhileSyncing: false, formatAddress, clock },
  onFailure: (_, failure) => {
    throw failure
  }
})
const service = startService({
  handlers: {
    svc_watchAddresses: watched.handler,
    svc_getTransactionsByAddress: createGetTransactionsByAddress({
      chains,
      maxUnpaged: null,
      serveWhileSyncing: false,
      // As by default.
      cacheBytes: 67_108_864,
      formatAddress,
      clock
    })
  },
  // Those of the benchmark of fairness, too.
  projects: [
    ...projects,
    ...['greedy', ...Array.from({ length: 9 }, (_, index) => `modest-${index}`)].map(projectId => ({
      ...{ projectId, serverKey: `key-of-${projectId}` }
    }))
  ],
  // As by default.
  limits: { streams: 2_000 },
  // Counted, as in production, and never used up unless it is asked for.
  rateLimit: { requestsPerSecond, burst: 2 * requestsPerSecond },
  // As by default.
  login: { attempts: 20, windowMs: 60_000 },
  overload: { eventLoopDelayMs: 200 },
  logger
})
const { url } = await service.listen()
tellUsage()
process.send?.({ url } satisfies Listening)
