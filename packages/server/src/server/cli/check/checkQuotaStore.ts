import { silentLogger } from '../../../platform/logger.ts'
import type { Config } from '../../config/config.ts'
import { openQuotaDatabase } from '../../http/quotaDatabase.ts'
import { placeFindings } from './placedFinding.ts'
import type { Look } from './runLooks.ts'

/** One look at the database of the quotas, where there is one. Its table is not made. */
export function checkQuotaStore({ rateLimit }: Config, timeoutMs: number): readonly Look[] {
  if (rateLimit === false || rateLimit.store === 'memory') return []
  const { store } = rateLimit
  const place = 'rateLimit.store'
  return [
    {
      place,
      async run() {
        const database = openQuotaDatabase(store, { logger: silentLogger, longestWaitMs: timeoutMs })
        try {
          const startedMs = performance.now()
          await database.pool.query('SELECT 1')
          const found = `the database answers in ${Math.round(performance.now() - startedMs)} ms`
          return placeFindings(place, [{ check: 'database', state: 'ok', found }], store)
        } catch (error) {
          const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
          const found = `the database cannot be used${code}`
          // Servers count by themselves meanwhile, so calls are answered.
          const advice =
            'check its address and the rights of its user; until then each server counts by itself'
          return placeFindings(place, [{ check: 'database', state: 'warning', found, advice }], store)
        } finally {
          await database.close()
        }
      }
    }
  ]
}
