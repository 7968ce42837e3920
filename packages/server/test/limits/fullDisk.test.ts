import { spawnSync } from 'node:child_process'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startAnvil } from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { createServer } from '../../src/index.ts'
import { createLogger } from '../../src/platform/logger.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Mounts a file system of 4 MB, which only root may do. @returns absent where it cannot be mounted. */
async function mountSmallDisk(): Promise<string | undefined> {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path], { stdio: 'ignore' })
  if (status !== 0) return undefined
  cleanUps.push(() => spawnSync('umount', ['--lazy', path]))
  return path
}

/** Writes until nothing more fits. */
function fill(file: string): void {
  for (const bytes of [65_536, 4_096]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
  }
}

it('a full disk is named as the cause, and the index goes on once there is space', async context => {
  const disk = await mountSmallDisk()
  if (disk === undefined) return context.skip('a small file system cannot be mounted here')
  const anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  const rpc = async (method: string, ...params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    return (await (await fetch(anvil.rpcUrl, { method: 'POST', headers, body })).json()) as {
      result: unknown
    }
  }
  await rpc('anvil_mine', '0x5')
  const messages: string[] = []
  const server = await createServer(
    {
      store: `sqlite:${join(disk, 'store')}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl] }] }
    },
    { logger: createLogger({ level: 'warn', write: line => messages.push(JSON.parse(line).msg) }) }
  )
  cleanUps.push(() => server.close())
  const address = `0x${'ca'.repeat(20)}`
  const ask = async () => {
    const body = { jsonrpc: '2.0', id: 1, chainId: anvil.chainId, method: 'svc_getTransactionsByAddress' }
    const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
    const request = new Request('http://host/evm-chain', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ ...body, params: [address] })
    })
    return (await server.fetch(request)).json()
  }
  await eventually('the chain is followed', () => server.status()[0]?.phase === 'following')
  expect(await ask()).toMatchObject({ result: [] })
  const isWarned = () => messages.includes('little space is left on the disk of the index')
  await eventually('little space is warned of', isWarned)

  const ballast = join(disk, 'ballast')
  fill(ballast)
  await rpc('anvil_mine', '0x400')
  await eventually('the index stalls', () => server.status()[0]?.phase === 'stalled')
  const cause = expect.stringMatching(/disk of the chain's index is full: space has to be freed/)
  expect(server.status()[0]?.problem).toEqual(cause)
  expect(await ask()).toMatchObject({
    error: { code: -32002, data: { reason: 'UPSTREAM_UNAVAILABLE', extraMessage: cause } }
  })

  rmSync(ballast)
  await eventually('the index goes on', () => server.status()[0]?.indexedTo?.number === 0x405, 20_000)
  await eventually('the chain is answered', async () => 'result' in ((await ask()) as object))
})
