/** The server under test, a process of its own: `serveHistory.ts <store folder>`. Tells its URL as a message. */

import { openSqliteReader } from '../../src/index/sqlite/openReader.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { createAddressFormat } from '../../src/server/methods/addressFormat.ts'
import { createGetTransactionsByAddress } from '../../src/server/methods/svc_getTransactionsByAddress.ts'
import { startService } from '../../test/http/startService.ts'
import { chainId } from './dataset.ts'
import type { Listening } from './messages.ts'
import { tellUsage } from './tellUsage.ts'

const [, , folder = ''] = process.argv
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
const service = startService({
  handlers: {
    svc_getTransactionsByAddress: createGetTransactionsByAddress({
      chains: new Map([[chainId, { chainId, reader, status }]]),
      maxUnpaged: null,
      serveWhileSyncing: false,
      // As by default.
      cacheBytes: 67_108_864,
      formatAddress: createAddressFormat(),
      clock: { now: Date.now }
    })
  },
  // Counted, as in production, and never used up.
  rateLimit: { requestsPerSecond: 1e9, burst: 1e9 },
  // As by default.
  login: { attempts: 20, windowMs: 60_000, longestPauseMs: 900_000 },
  overload: { eventLoopDelayMs: 200 },
  logger: createLogger({ level: 'info' })
})
const { url } = await service.listen()
tellUsage()
process.send?.({ url } satisfies Listening)
