import { BoundedMap } from '../../platform/boundedMap.ts'
import { IndexDamagedError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** Maximum of damages that are remembered as logged. */
const rememberedDamages = 10_000

/** Makes the function that counts each call that met a damaged part of an index, and logs each part once. */
export function createDamageReport({
  logger,
  metrics
}: {
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'countDamage'>
}): (failure: unknown, chainId: number | undefined) => void {
  const logged = new BoundedMap<string, true>(rememberedDamages)
  return (failure, chainId) => {
    if (!(failure instanceof IndexDamagedError) || chainId === undefined) return
    const { part, block } = failure.damage
    metrics.countDamage({ chainId, part })
    const key = `${chainId} ${part} ${block}`
    if (logged.get(key)) return
    logged.set(key, true)
    logger.error('the index is damaged', { chainId, ...present({ blockNumber: block }), error: failure })
  }
}
