import { type Damage, IndexDamagedError } from '@chain-data/index'
import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import type { Counts } from '../metrics/counts.ts'

/** Maximum of damages that are remembered as logged. */
const rememberedDamages = 10_000

/** It may have been healed and met again: another report of it is passed on after this time. */
const passOnEveryMs = 2_000

/** Makes the function that counts each call that met a damaged part of an index, and logs each part once. */
export function createDamageReport({
  logger,
  counts,
  onDamage
}: {
  readonly logger: Logger
  readonly counts: Pick<Counts, 'countDamage'>
  /** Called for damage that has not been passed on a moment ago. */
  onDamage?(chainId: number, damage: Damage): void
}): (failure: unknown, chainId: number | undefined) => void {
  /** By damage, when it was passed on. */
  const logged = new BoundedMap<string, number>(rememberedDamages)
  return (failure, chainId) => {
    if (!(failure instanceof IndexDamagedError) || chainId === undefined) return
    const { part, block, run, section, chunk } = failure.damage
    counts.countDamage({ chainId, part })
    const name = `${chainId} ${part} ${block} ${run} ${section} ${chunk}`
    const passedOnMs = logged.get(name)
    if (performance.now() - (passedOnMs ?? Number.NEGATIVE_INFINITY) < passOnEveryMs) return
    logged.set(name, performance.now())
    onDamage?.(chainId, failure.damage)
    if (passedOnMs !== undefined) return
    logger.error('the index is damaged', { chainId, ...present({ blockNumber: block }), error: failure })
  }
}
