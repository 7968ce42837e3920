import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { type RunningCommand, runCommand } from '../cli/runCommand.ts'
import { historyOf, poolOf, runTestIndexer } from '../support/indexHarness.ts'
import { poolNodes } from './poolNode.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function startNode() {
  const node = await poolNodes.anvil()
  cleanUps.push(() => node.stop())
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  return { node, path: folder.path, sender: (node.accounts[0] ?? '').toLowerCase() }
}

/** The pool's entry of the sender, once there is one. */
const pendingOf = (path: string, sender: string) =>
  eventually('it is pending', async () => (await poolOf(path, sender))[0], 20_000)

/** First-seen seconds can only be told apart in another second. */
const secondAfter = (seconds: number) =>
  eventually('the next second', () => Math.floor(Date.now() / 1000) > seconds)

async function kill({ child, ended }: RunningCommand): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

it('the second in which a pending transaction was first seen survives kill -9', async () => {
  const { node, path, sender } = await startNode()
  const config = join(path, 'config.json')
  await writeFile(
    config,
    JSON.stringify({
      ...{ listen: { port: 0 }, store: `sqlite:${path}` },
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: 31337, rpcUrls: [node.rpcUrl] }] }
    })
  )
  const start = () => {
    const command = runCommand(['serve', '--config', config])
    cleanUps.push(() => kill(command))
    return command
  }
  const first = start()
  await node.send({ from: sender, nonce: 0 })
  const { firstSeenSeconds } = await pendingOf(path, sender)
  await kill(first)
  await secondAfter(firstSeenSeconds)
  const other = await node.send({ from: sender, nonce: 1 })
  start()
  await eventually('the new one is seen', async () => (await poolOf(path, sender)).length === 2, 20_000)
  const [newer, older] = await poolOf(path, sender)
  expect(newer?.hash).toBe(other)
  expect(newer?.firstSeenSeconds).toBeGreaterThan(firstSeenSeconds)
  expect(older?.firstSeenSeconds).toBe(firstSeenSeconds)
})

it('what a reorg removes is gone when the node does not have it any more, and as first seen when it does', async () => {
  const { node, path, sender } = await startNode()
  await node.mine()
  const indexer = runTestIndexer(path, { rpcUrls: [node.rpcUrl] })
  cleanUps.push(() => indexer.stop())
  await indexer.until('the pool is seen', ({ poolSeenAtMs }) => poolSeenAtMs !== undefined)
  const hash = await node.send({ from: sender, nonce: 0 })
  const { firstSeenSeconds } = await pendingOf(path, sender)
  await node.mine()
  await eventually('mined', async () => (await historyOf(path, sender)).length === 1)
  // Its block makes room for an empty one; anvil does not take the transaction back into its pool.
  await node.call('anvil_reorg', 1, [])
  await eventually('removed', async () => (await historyOf(path, sender)).length === 0)
  await indexer.until('level again', s => s.phase === 'following' && s.poolSeenAtMs !== undefined)
  expect(await poolOf(path, sender)).toEqual([])
  await secondAfter(firstSeenSeconds)
  expect(await node.send({ from: sender, nonce: 0 })).toBe(hash)
  expect(await pendingOf(path, sender)).toMatchObject({ hash, status: 1, firstSeenSeconds })
})
