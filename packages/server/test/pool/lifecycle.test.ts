import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { historyOf, poolOf, type RunningIndexer, runTestIndexer } from '../support/indexHarness.ts'
import { testClients } from '../support/testClients.ts'
import { type PoolNode, poolNodes } from './poolNode.ts'

const waivers = [
  { check: 'emptyRoot', reason: "hardhat's first block names roots of zeros", toBlock: 0 }
] as const

describe.each(testClients)('the way of a transaction over %s', name => {
  let node: PoolNode
  let path: string
  let indexer: RunningIndexer
  let removeFolder: () => Promise<void>
  /** Each test has a sender of its own: their nonces begin at 0. */
  let nextSender = 0
  let sender: string

  beforeAll(async () => {
    node = await poolNodes[name]()
  })
  afterAll(() => node.stop())
  beforeEach(async () => {
    const folder = await temporaryFolder()
    path = folder.path
    removeFolder = folder.remove
    sender = node.accounts[nextSender++] ?? ''
    indexer = runTestIndexer(path, { rpcUrls: [node.rpcUrl], ...(name === 'hardhat' ? { waivers } : {}) })
    await indexer.until('the pool is seen', ({ poolSeenAtMs }) => poolSeenAtMs !== undefined)
  })
  afterEach(async () => {
    await indexer.stop()
    await removeFolder()
  })

  const statuses = async () => {
    const pending = await poolOf(path, sender)
    const confirmed = await historyOf(path, sender.toLowerCase())
    return [...pending, ...confirmed].map(({ hash, status }) => `${hash} ${status}`)
  }
  /** What the sender's history shows, as soon as it is that; each transaction once, pending ones first. */
  const shows = (what: string, ...expected: string[]) =>
    eventually(what, async () => (await statuses()).join() === expected.join()).catch(async error => {
      expect(await statuses(), error.message).toEqual(expected)
    })

  it('queued behind a gap, next once the gap is filled, then successful in a block', async () => {
    const second = await node.send({ from: sender, nonce: 1 })
    await shows('queued', `${second} 0`)
    const first = await node.send({ from: sender, nonce: 0 })
    await shows('both next', `${second} 1`, `${first} 1`)
    expect(indexer.status().poolCovered).toBe(true)
    await node.mine()
    await shows('mined', `${second} 3`, `${first} 3`)
  })

  it('pending, then failed in a block', async () => {
    const precompile = `0x${'00'.repeat(19)}06`
    // Points that are not on the curve: the precompile fails and takes all gas.
    const failing = await node.send({ from: sender, nonce: 0, to: precompile, data: `0x${'01'.repeat(128)}` })
    await shows('pending', `${failing} 1`)
    await node.mine()
    await shows('failed', `${failing} 4`)
  })

  it('replaced by one with a higher price: the first one vanishes and is never shown as failed', async () => {
    const replaced = await node.send({ from: sender, nonce: 0, gwei: 100 })
    await shows('pending', `${replaced} 1`)
    const better = await node.send({ from: sender, nonce: 0, gwei: 200 })
    await shows('replaced', `${better} 1`)
    await node.mine()
    await shows('mined', `${better} 3`)
  })
})
