import { isOnCitus } from '@chain-data/index/test'
import { engines } from '../support/testStores.ts'
import { chaosNodes } from './chaosNodes.ts'
import { isFull } from './chaosSizes.ts'

/**
 * Which engine meets which node in the suites of this folder. No engine sees whose blocks it keeps: the short run tries the
 * other nodes on one engine only.
 */
export const chaosPlaces = engines.flatMap(engine =>
  chaosNodes
    .filter(({ name }) =>
      isOnCitus
        ? engine.name === 'postgres' && name === 'anvil'
        : isFull || engine === engines[0] || name === 'anvil'
    )
    .map(node => ({ engine, node }))
)
