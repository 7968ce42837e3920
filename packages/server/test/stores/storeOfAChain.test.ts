import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '@chain-data/index/test'
import { expect, it } from 'vitest'
import { createServer } from '../../src/index.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { runCommand } from '../cli/runCommand.ts'
import { expectRight } from '../devChains/expectRight.ts'
import { startDevNode } from '../devChains/startDevNode.ts'
import { engines } from '../support/testStores.ts'

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

it('the index of a chain is kept in its own store, and what belongs to no chain in the first one', async ({
  onTestFinished
}) => {
  const nodes = await Promise.all([startDevNode('anvil', 31_337), startDevNode('anvil', 1_337)])
  for (const node of nodes) {
    onTestFinished(() => node.stop())
    await node.deployToken('First')
    await node.live(2)
  }
  const [sqlite, postgres] = engines
  const [first, own] = await Promise.all([sqlite.create(), postgres.create()])
  onTestFinished(first.remove)
  const config = {
    store: first.url,
    listen: { port: 0, operator: 'main' as const },
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: {
      evm: nodes.map(({ chainId, rpcUrl }) => ({
        ...{ chainId, rpcUrls: [rpcUrl] },
        ...(chainId === 1_337 && { store: own.url })
      }))
    }
  }
  const start = async (indexing: boolean) => {
    const server = await createServer({ ...config, indexing }, { logger: createLogger({ level: 'silent' }) })
    onTestFinished(() => server.close())
    return server
  }
  const servers = [await start(true), await start(false)]
  for (const server of servers) {
    for (const node of nodes) {
      await expectRight('at the start', node, async (method, ...params) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: node.chainId, method, params })
        const headers = { 'content-type': 'application/json', authorization }
        const answer = await server.fetch(
          new Request('http://host/evm-chain', { method: 'POST', headers, body })
        )
        const { result, error } = (await answer.json()) as Record<string, unknown>
        return result ?? error
      })
    }
  }
  const folder = first.url.replace('sqlite:', '')
  expect(existsSync(join(folder, 'evm-31337.sqlite'))).toBe(true)
  expect((await readdir(folder)).filter(name => name.includes('1337') && !name.includes('31337'))).toEqual([])

  const { path, remove } = await temporaryFolder()
  onTestFinished(remove)
  const file = join(path, 'chain-data.json')
  await writeFile(file, JSON.stringify(config))
  const check = runCommand(['check', '--config', file, '--json'])
  await check.ended
  const { findings } = JSON.parse(check.stdout()) as { findings: Record<string, string>[] }
  const indexes = findings.filter(finding => finding.check?.startsWith('index '))
  expect(indexes.map(({ place, check: name, state }) => [place, name, state])).toEqual([
    ['store', 'index 31337', 'ok'],
    ['chains.evm[1].store', 'index 1337', 'ok']
  ])
  for (const server of servers.toReversed()) await server.close()
  const status = runCommand(['status', '--config', file, '--json'])
  await status.ended
  expect(status.stdout()).toMatch(/"chainId":1337,[^}]*"indexedTo":\d+/)
  const reset = runCommand(['reset', '1337', '--yes', '--config', file])
  await reset.ended
  expect(reset.stdout()).toContain('Index of chain 1337: chain_data_1337, blocks 0 to')
})
