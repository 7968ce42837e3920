import { silentLogger } from '../../platform/logger.ts'
import type { Config } from '../config/config.ts'
import { openQuotaDatabase } from '../http/quotaDatabase.ts'
import { type Look, lookAt, ok, warning } from './findings.ts'

/** One look at the database of the quotas, where there is one. Its table is not made. */
export function checkQuotaStore({ rateLimit }: Config, timeoutMs: number): readonly Look[] {
  if (rateLimit === false || rateLimit.store === 'memory') return []
  const { store } = rateLimit
  const look = async () => {
    const database = openQuotaDatabase(store, { logger: silentLogger, longestWaitMs: timeoutMs })
    try {
      const startedMs = performance.now()
      await database.pool.query('SELECT 1')
      return ok('database', `the database answers in ${Math.round(performance.now() - startedMs)} ms`)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
      // Servers count by themselves meanwhile, so calls are answered.
      const advice = 'check its address and the rights of its user; until then each server counts by itself'
      return warning('database', `the database cannot be used${code}`, advice)
    } finally {
      await database.close()
    }
  }
  return [lookAt('rateLimit.store', look, store)]
}
