import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createJsonRpc } from '../src/platform/jsonRpc.ts'
import { type SurfpoolNode, startSurfpool, surfpoolUnsupportedReason } from '../src/solana/startSurfpool.ts'

interface Timed {
  readonly signature: string
  readonly slot: number
  readonly blockTime: number
}

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

describe.skipIf(unsupported !== undefined)('a Solana node', () => {
  let node: SurfpoolNode

  beforeAll(async () => {
    node = await startSurfpool()
  })
  afterAll(() => node?.stop())

  it('goes on answering when more has happened than its queue of events holds', async () => {
    const rpc = createJsonRpc(node.rpcUrl)
    const receiver = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
    // Two events each; the queue holds 1,024. On its own the clock fills it in less than 80 seconds.
    const before = (await rpc('getBalance', receiver)) as { value: number }
    for (let lamports = 1; lamports <= 600; lamports++) await rpc('requestAirdrop', receiver, lamports)
    const after = (await rpc('getBalance', receiver)) as { value: number }
    expect(after.value - before.value).toBe((600 * 601) / 2)
  })

  it('gives each transaction the time at which it was sent, in every answer', async () => {
    const rpc = createJsonRpc(node.rpcUrl)
    const receiver = 'SVUhqrGAQbX5oXC3mFrhUfKDmrfYdge8cYxKCuVN5dg'
    const firstSecond = Math.floor(Date.now() / 1_000)
    for (const lamports of [1_000_000_000, 2_000_000_000]) await rpc('requestAirdrop', receiver, lamports)
    const list = (await rpc('getSignaturesForAddress', receiver)) as Timed[]
    const lastSecond = Math.floor(Date.now() / 1_000)
    expect(list).toHaveLength(2)
    for (const { signature, slot, blockTime } of list) {
      expect(blockTime).toBeGreaterThanOrEqual(firstSecond)
      expect(blockTime).toBeLessThanOrEqual(lastSecond)
      const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }
      const others = [await rpc('getTransaction', signature, options), await rpc('getBlock', slot, options)]
      expect((others as Timed[]).map(each => each.blockTime)).toEqual([blockTime, blockTime])
      expect(await rpc('getBlockTime', slot)).toBe(blockTime)
    }
  })
})
