import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@chain-data/index/test'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import type { ChaosChain } from '../chaos/createChaosChain.ts'
import type { Truth } from './recordTruth.ts'

/** A chain that does not stand still. */
export interface Changes {
  /** Waits until the chain has changed so many times more. */
  more(count: number): Promise<void>
  stop(): Promise<void>
}

const mostReplaced = 12

/** Grows a chain, fills its pool and replaces blocks, one after the other, until it is stopped. */
export function changeChain(chain: ChaosChain, truth: Truth, random: Random, pauseMs: number): Changes {
  let isOver = false
  let count = 0
  let failure: unknown

  async function change(): Promise<void> {
    const free = chain.head() - chain.firstFree
    if (random.below(5) === 0 && free > 0) {
      await chain.replace(1 + random.below(Math.min(free, mostReplaced)))
    } else if (random.below(4) === 0) await chain.fillPool(1 + random.below(3))
    else await chain.grow(1 + random.below(3))
  }

  async function run(): Promise<void> {
    while (!isOver) {
      await truth.during(change)
      count++
      await sleep(pauseMs)
    }
  }
  const ended = run().catch(error => {
    failure = error
  })
  return {
    async more(wanted) {
      const before = count
      await eventually(
        `the chain changes ${wanted} times`,
        () => {
          if (failure !== undefined) throw failure
          return count >= before + wanted
        },
        60_000
      )
    },
    async stop() {
      isOver = true
      await ended
      if (failure !== undefined) throw failure
    }
  }
}
