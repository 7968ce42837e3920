import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { describe, expect, it, type TestContext } from 'vitest'
import { createServer, type Server } from '../../src/index.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { runCommand } from '../cli/runCommand.ts'
import { startFaultProxy } from '../support/startFaultProxy.ts'
import { onlyHardhat, testClients } from '../support/testClients.ts'
import { type Engine, engines } from '../support/testStores.ts'
import { type Call, expectRight } from './expectRight.ts'
import { type DevNode, startDevNode } from './startDevNode.ts'

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
/** What is started in a test ends with it, the last first. */
type AtEnd = Pick<TestContext, 'onTestFinished'>

interface Running {
  readonly server: Server
  readonly lines: Record<string, unknown>[]
  readonly call: Call
}

/** Starts a server as a developer does: all but the node, the store and a key is by default. */
async function start(atEnd: AtEnd, node: DevNode, store: string, indexing = true): Promise<Running> {
  const lines: Record<string, unknown>[] = []
  const server = await createServer(
    {
      ...{ store, indexing },
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: node.chainId, rpcUrls: [node.rpcUrl] }] }
    },
    { logger: createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) }) }
  )
  atEnd.onTestFinished(() => server.close())
  return {
    ...{ server, lines },
    async call(method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: node.chainId, method, params })
      const headers = { 'content-type': 'application/json', authorization }
      const request = new Request('http://host/evm-chain', { method: 'POST', headers, body })
      const { result, error } = (await (await server.fetch(request)).json()) as Record<string, unknown>
      return result ?? error
    }
  }
}

/** Checks the answers of all these servers, and that their chain is well. */
async function expectAllRight(event: string, node: DevNode, ...servers: readonly Running[]): Promise<void> {
  await Promise.all(servers.map(({ call }) => expectRight(event, node, call)))
  for (const { server } of servers) {
    expect(server.status()[0]).toMatchObject({ phase: 'following', degraded: false })
  }
}

async function openNode(atEnd: AtEnd, ...options: Parameters<typeof startDevNode>): Promise<DevNode> {
  const node = await startDevNode(...options)
  atEnd.onTestFinished(() => node.stop())
  await node.deployToken('First')
  await node.live(3)
  return node
}

const messagesOf = ({ lines }: Running) => lines.map(({ msg }) => msg)
const beganAnew = 'the development chain began anew, and so does its index'

async function open(atEnd: AtEnd, engine: Engine, client: 'anvil' | 'hardhat') {
  return serve(atEnd, engine, await openNode(atEnd, client))
}

/** Starts two servers over one store, of which one only answers. @param rpcUrl - where they reach the node. */
async function serve(atEnd: AtEnd, engine: Engine, node: DevNode, rpcUrl = node.rpcUrl) {
  const store = await engine.create()
  atEnd.onTestFinished(store.remove)
  const writer = await start(atEnd, { ...node, rpcUrl }, store.url)
  const follower = await start(atEnd, { ...node, rpcUrl }, store.url, false)
  const right = (event: string) => expectAllRight(event, node, writer, follower)
  await right('at the start')
  return { node, store, writer, right }
}

// Most of their time they wait for the next poll of a server: some run beside each other.
describe.concurrent.each(engines)('over $name, an index follows its development node', engine => {
  const clients = engine.name === 'sqlite' ? testClients : (['anvil'] as const)

  it.for(clients)('to another genesis of %s, and keeps the old index once', async (client, atEnd) => {
    const { node, store, writer, right } = await open(atEnd, engine, client)
    for (const name of ['Second', 'Third']) {
      await node.restart({ otherGenesis: true })
      await right(`restarted before ${name}`)
      await node.deployToken(name)
      await node.live(2)
      await right(`${name} is live`)
    }
    const warnings = writer.lines.filter(({ msg }) => msg === beganAnew)
    const place =
      store.location.kind === 'sqlite' ? 'evm-31337.kept-aside.sqlite' : 'chain_data_31337_kept_aside'
    expect(warnings.map(({ level }) => level)).toEqual([40, 40])
    expect(warnings[0]?.problem).toMatch(
      new RegExp(
        `^genesis 0x[0-9a-f]{64} was indexed, 0x[0-9a-f]{64} is served; the old index is kept as .*${place}$`
      )
    )
  })

  it.for(clients)('back to a snapshot of %s', async (client, atEnd) => {
    const { node, writer, right } = await open(atEnd, engine, client)
    const snapshot = await node.rpc('evm_snapshot')
    await node.live(2)
    await right('after the snapshot')
    await node.rpc('evm_revert', snapshot)
    await right('reverted')
    await node.live(1)
    await right('mined on')
    expect(messagesOf(writer)).not.toContain(beganAnew)
  })
})

it.concurrent.for(testClients)(
  'an index goes back with %s, restarted on the same genesis block with fewer blocks',
  async (client, atEnd) => {
    const { node, writer, right } = await open(atEnd, engines[0], client)
    // Waits in the pool, which ends with the process.
    const pending = await node.rpc('eth_sendTransaction', {
      from: node.sender,
      to: node.account,
      value: '0x1'
    })
    await eventually('the pool is seen', async () =>
      JSON.stringify(await writer.call('svc_getTransactionsByAddress', node.account)).includes(
        String(pending)
      )
    )
    await node.restart()
    await right('restarted with no blocks')
    await node.deployToken('Second')
    await node.live(6)
    await right('another chain of more blocks')
    expect(messagesOf(writer)).not.toContain(beganAnew)
  }
)

it.concurrent.for(onlyHardhat)(
  'an index follows the blocks that %s mines many of, without naming their parents',
  async (client, atEnd) => {
    const { node, right } = await open(atEnd, engines[0], client)
    await node.rpc('hardhat_mine', '0x12c', '0xc')
    await right('three hundred blocks were mined')
    await node.live(1)
    await right('mined on')
  }
)

it.concurrent('an index goes back with anvil, rolled back or restarted from a dumped state, and cursors say so', async atEnd => {
  const node = await openNode(atEnd, 'anvil')
  const door = await startFaultProxy(node.rpcUrl)
  atEnd.onTestFinished(door.close)
  const { writer, right } = await serve(atEnd, engines[0], node, door.url)
  const state = await node.rpc('anvil_dumpState')
  const common = (await node.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await node.live(40)
  await right('eighty blocks more')
  const { history } = await node.truth()
  await node.rpc('anvil_rollback', 3)
  await right('rolled back')
  // Below what the node called final, which is 64 blocks deep.
  // Nobody sees the empty chain in between.
  door.setDown(true)
  await node.restart()
  await node.rpc('anvil_loadState', state)
  door.setDown(false)
  await right('restarted from the dumped state')
  expect(
    await writer.call('svc_getTransactionsByAddress', node.account, { limit: 5, before: history[0]?.hash })
  ).toMatchObject({
    data: { reason: 'CURSOR_REORGED', lastCommonBlock: { blockNumber: 7, blockHash: common.hash } }
  })
  await node.live(1)
  await right('mined on')
})

it.concurrent.for(engines)(
  'over $name, any other chain keeps its index until it is reset',
  async (engine, atEnd) => {
    const node = await openNode(atEnd, 'anvil', 31338)
    const store = await engine.create()
    atEnd.onTestFinished(store.remove)
    const folder = await temporaryFolder()
    atEnd.onTestFinished(folder.remove)
    const config = join(folder.path, 'config.json')
    await writeFile(
      config,
      JSON.stringify({
        store: store.url,
        chains: { evm: [{ chainId: 31338, rpcUrls: [node.rpcUrl] }] },
        projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }]
      })
    )
    const reset = async (...options: string[]) => {
      const command = runCommand(['reset', '31338', '--config', config, ...options])
      return { code: await command.ended, text: command.stdout() + command.stderr() }
    }

    const first = await start(atEnd, node, store.url)
    await expectAllRight('at the start', node, first)
    await node.restart({ otherGenesis: true })
    await node.deployToken('Second')
    await node.live(2)
    // While the node restarts, the chain may stall for want of a connection first.
    const stalled = await eventually('it stalls for the other chain', () =>
      first.server.status().find(({ phase, problem }) => phase === 'stalled' && problem?.includes('genesis'))
    )
    expect(stalled.problem).toMatch(
      /serves another chain than the index \(genesis 0x[0-9a-f]{64} \/ 0x[0-9a-f]{64}\): .*or run `chain-data reset 31338`/
    )
    expect(
      first.lines.filter(({ level }) => Number(level) >= 50).map(({ problem }) => problem)
    ).toContainEqual(expect.stringContaining('`chain-data reset 31338`'))
    expect(stalled.indexedTo?.number).toBe(7)
    for (const method of ['svc_getTransactionsByAddress', 'svc_getTokensAndNFTs']) {
      expect(await first.call(method, node.account)).toMatchObject({
        data: {
          reason: 'UPSTREAM_UNAVAILABLE',
          extraMessage: expect.stringContaining('`chain-data reset 31338`')
        }
      })
    }
    expect(await reset('--yes')).toEqual({
      code: 1,
      text: 'A server writes the index of chain 31338: stop it, and reset again.\n'
    })
    await first.server.close()
    const again = await start(atEnd, node, store.url)
    const isRefused = () => again.server.status()[0]?.problem?.includes('or run `chain-data reset 31338`')
    await eventually('it is refused at a start too', isRefused).catch((error: Error) => {
      const { server, lines } = again
      throw new Error(
        `${error.message}; now ${JSON.stringify(server.status())} after ${JSON.stringify(lines)}`
      )
    })
    await again.server.close()

    const refused = await reset()
    expect(refused.code).toBe(1)
    expect(refused.text).toMatch(
      /^Index of chain 31338: .*31338.*, blocks 0 to 7, \d+ MiB\.\nIt will be kept as .*kept.aside.*\nNothing was done\. Repeat with --yes/
    )
    expect(refused.text).not.toContain('password')
    expect(await reset('--yes')).toMatchObject({
      code: 0,
      text: expect.stringContaining('is indexed anew at the next start')
    })
    expect(await reset('--yes')).toEqual({
      code: 0,
      text: 'There is no index of chain 31338: there is nothing to reset.\n'
    })
    await expectAllRight('after the reset', node, await start(atEnd, node, store.url))
    expect((await reset()).code).toBe(1)
  }
)
