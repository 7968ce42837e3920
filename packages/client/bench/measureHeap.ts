import type { Contender } from './contenders.ts'

const calls = 100_000
const warmUpCalls = 5_000

/**
 * How much the heap holds more after 100,000 calls than before them, in bytes.
 *
 * @throws The process runs without `--expose-gc`.
 */
export async function measureHeapGrowth({ call }: Contender): Promise<number> {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error('measureHeapGrowth needs node --expose-gc')
  for (let count = 0; count < warmUpCalls; count++) await call()
  const before = await settledHeap(collect)
  for (let count = 0; count < calls; count++) await call()
  return (await settledHeap(collect)) - before
}

async function settledHeap(collect: NonNullable<typeof globalThis.gc>): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await collect()
    await new Promise(resolve => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}
