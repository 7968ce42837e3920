import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@chain-data/index/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { type RunningCommand, runCommand } from './runCommand.ts'

/** Nothing listens there. */
const deadNode = 'http://127.0.0.1:1'

let root: string
const running: RunningCommand[] = []
const nodes: Server[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'chain-data-cli-'))
})
afterAll(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  for (const node of nodes.splice(0)) {
    node.closeAllConnections()
    node.close()
  }
  await rm(root, { recursive: true, force: true })
})

/** A folder for one test alone: they run beside each other, as programs mostly wait to be loaded and to end. */
const newFolder = () => mkdtemp(join(root, 'test-'))

function start(args: readonly string[], environment: Record<string, string> = {}): RunningCommand {
  const command = runCommand(args, { TMPDIR: root, ...environment })
  running.push(command)
  return command
}

async function serve(config: object): Promise<{ command: RunningCommand; url: string; folder: string }> {
  const folder = await newFolder()
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify({ listen: { port: 0 }, store: 'sqlite::memory:', ...config }))
  const command = start(['serve', '--config', file], { TMPDIR: folder })
  return { command, url: await urlOf(command), folder }
}

async function urlOf(command: RunningCommand): Promise<string> {
  // Not `expect.poll`, which belongs to one test at a time.
  await eventually('it listens', () => (command.stdout() + command.stderr()).includes('"listening"'), 20_000)
  return String(command.logLines().find(({ msg }) => msg === 'listening')?.url)
}

const minimal = {
  projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
  chains: { evm: [{ chainId: 31337, rpcUrls: [deadNode] }], solana: [{ chainId: 103, rpcUrls: [deadNode] }] }
}

function call(
  url: string,
  path: string,
  method: string,
  chainId: number,
  {
    key = 'demo-server-key',
    params = []
  }: { readonly key?: string; readonly params?: readonly unknown[] } = {}
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`demo:${key}`).toString('base64')}`,
      'content-type': 'application/json'
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
  })
}

/** Asks for what the cluster's node has to be asked for. */
function holdings(url: string): Promise<Response> {
  const params = ['11111111111111111111111111111111']
  return call(url, '/solana', 'enhancedGetTokensAndNFTs', 103, { params })
}

describe.concurrent('chain-data serve', () => {
  it('says where it listens, lives without its nodes, and leaves nothing behind on SIGTERM', async () => {
    const { command, url, folder } = await serve(minimal)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    const ready = await fetch(`${url}/health/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ ready: false, chains: [{ chainId: 31337, ready: false }] })
    const answer = await (await call(url, '/evm-chain', 'svc_getSyncStatus', 31337)).json()
    expect(answer).toMatchObject({ result: { chainId: 31337 } })
    // Twice, as supervisors do that signal the process and its group.
    command.child.kill('SIGTERM')
    command.child.kill('SIGTERM')
    expect(await command.ended).toBe(0)
    expect(command.logLines().at(-1)).toMatchObject({ msg: 'closed' })
    // The memory store was a folder of its own.
    expect((await readdir(folder)).filter(name => name !== 'config.json')).toEqual([])
  })

  it.each([
    [
      { host: '0.0.0.0', port: 0 },
      'listen.host is "0.0.0.0", where others than this machine may call',
      'or listen on 127.0.0.1'
    ],
    [
      { port: 0, trustedProxies: ['loopback'] },
      'listen.trustedProxies names a proxy, through which others than this machine may call',
      'or without such a proxy name none'
    ]
  ])(
    'does not serve others than this machine with a server key that can be guessed: %j',
    async (listen, effect, alternative) => {
      const folder = await newFolder()
      const file = join(folder, 'config.json')
      await writeFile(file, JSON.stringify({ ...minimal, listen, store: `sqlite:${join(folder, 'data')}` }))
      const command = start(['serve', '--config', file])
      expect(await command.ended).toBe(2)
      expect(command.stderr()).toBe(
        `Configuration error:\n${effect}, and a server key of project "demo" has about 72 bits of randomness; expected at least 128: ` +
          `have one made of 256 bits with \`chain-data project create demo\`, ${alternative}\n`
      )
      // Nothing was opened for it.
      expect(await readdir(folder)).toEqual(['config.json'])
    }
  )

  it('finishes what is under way on SIGTERM, refuses what is new, and says not ready meanwhile', async () => {
    const nothing = '{"jsonrpc":"2.0","id":"x","result":null}'
    const held: ServerResponse[] = []
    const node = createServer((_request, response) => void held.push(response))
    nodes.push(node)
    await once(node.listen(0, '127.0.0.1'), 'listening')
    const rpcUrls = [`http://127.0.0.1:${(node.address() as AddressInfo).port}`]
    const { command, url } = await serve({ ...minimal, chains: { solana: [{ chainId: 103, rpcUrls }] } })
    expect((await fetch(`${url}/health/ready`)).status).toBe(200)
    // The server's own check of the cluster's node.
    await eventually('the check comes', () => held.length === 1)

    const underWay = holdings(url)
    await eventually('the call comes', () => held.length > 1)
    command.child.kill('SIGTERM')
    await eventually('it is not ready', async () => (await fetch(`${url}/health/ready`)).status === 503)
    const refused = await call(url, '/solana', 'svc_getSyncStatus', 103)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({
      id: null,
      error: { code: -32002, data: { reason: 'OVERLOADED' } }
    })
    expect(command.child.exitCode).toBe(null)

    node.on('request', (_request, response) => response.end(nothing))
    for (const response of held) response.end(nothing)
    const answer = await underWay
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ id: 1, chainId: 103 })
    expect(await command.ended).toBe(0)
  })

  it('ends in time although an answer never comes', async () => {
    let requests = 0
    const node = createServer(() => void requests++)
    nodes.push(node)
    await once(node.listen(0, '127.0.0.1'), 'listening')
    const rpcUrls = [`http://127.0.0.1:${(node.address() as AddressInfo).port}`]
    const { command, url } = await serve({ ...minimal, chains: { solana: [{ chainId: 103, rpcUrls }] } })
    await eventually('the check comes', () => requests === 1)
    const underWay = holdings(url).then(
      response => response.status,
      () => 'cut'
    )
    await eventually('the call comes', () => requests > 1)
    const startedMs = Date.now()
    command.child.kill('SIGTERM')
    expect(await command.ended).toBe(0)
    expect(Date.now() - startedMs).toBeLessThan(10_000)
    expect(await underWay).toBe('cut')
  })

  it('ends at once when it is told again a second later', async () => {
    let requests = 0
    const node = createServer(() => void requests++)
    nodes.push(node)
    await once(node.listen(0, '127.0.0.1'), 'listening')
    const rpcUrls = [`http://127.0.0.1:${(node.address() as AddressInfo).port}`]
    const { command, url } = await serve({ ...minimal, chains: { solana: [{ chainId: 103, rpcUrls }] } })
    await eventually('the check comes', () => requests === 1)
    holdings(url).catch(() => {})
    await eventually('the call comes', () => requests > 1)
    command.child.kill('SIGTERM')
    await new Promise(resolve => setTimeout(resolve, 1_500))
    command.child.kill('SIGTERM')
    expect(await command.ended).toBe(1)
  })

  it('can be set up by the environment alone', async () => {
    const command = start(['serve'], {
      CHAIN_DATA_PORT: '0',
      CHAIN_DATA_STORE: `sqlite:${await newFolder()}/index`,
      CHAIN_DATA_EVM_5: deadNode,
      CHAIN_DATA_PROJECT: 'demo:from-the-environment'
    })
    const url = await urlOf(command)
    expect(
      (await call(url, '/evm-chain', 'svc_getSyncStatus', 5, { key: 'from-the-environment' })).status
    ).toBe(200)
    expect((await call(url, '/evm-chain', 'svc_getSyncStatus', 5, { key: 'another' })).status).toBe(401)
  })

  it.each<[string, string | undefined, RegExp]>([
    [
      'a wrong value',
      JSON.stringify({ ...minimal, listen: { port: 'x' } }),
      /listen\.port is "x"; expected TCP port/
    ],
    ['an unknown key', JSON.stringify({ ...minimal, sotre: 1 }), /sotre is not a key/],
    [
      'a PostgreSQL without a database',
      JSON.stringify({ ...minimal, store: 'postgres://u:pw@h' }),
      /^(?!.*pw)store is "postgres:…"; expected .*<database>/m
    ],
    [
      'a store below a file',
      JSON.stringify({ ...minimal, store: 'sqlite:/dev/null/store' }),
      /store is "sqlite:\/dev\/null\/store" \(\/dev\/null is a file\); expected a folder .*: set store to another one, or move the file away/
    ],
    [
      'a store that is a file',
      JSON.stringify({ ...minimal, store: 'sqlite:/dev/null' }),
      /store is "sqlite:\/dev\/null" \(\/dev\/null is a file\); expected a folder .*: set store to another one, or move the file away/
    ],
    ['text that is no JSON', '{', /is not JSON/],
    ['no such file', undefined, /could not be read/]
  ])('exits 2 and says why when its configuration has %s', async (_what, text, message) => {
    const file = join(await newFolder(), 'wrong.json')
    if (text !== undefined) await writeFile(file, text)
    const command = start(['serve', '--config', file])
    expect(await command.ended).toBe(2)
    expect(command.stderr()).toMatch(message)
    expect(command.stderr()).not.toMatch(/pw@|\n {4}at /)
    expect(command.stdout()).toBe('')
  })

  it('exits 1 and says why when its port is taken', async () => {
    const other = createServer()
    nodes.push(other)
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    const file = join(await newFolder(), 'config.json')
    await writeFile(file, JSON.stringify({ ...minimal, listen: { port }, store: 'sqlite::memory:' }))
    const command = start(['serve', '--config', file])
    expect(await command.ended).toBe(1)
    expect(command.stderr()).toMatch(
      new RegExp(
        `^Port ${port} of 127.0.0.1 is taken by another program \\(EADDRINUSE\\)\\. .*lsof -i :${port}.* CHAIN_DATA_PORT`
      )
    )
  })
})

describe.concurrent('chain-data project create', () => {
  it('prints a key that works, and a digest that the configuration takes instead of it', async () => {
    const created = start(['project', 'create', 'demo'])
    expect(await created.ended).toBe(0)
    const key = /Server key[^:]*: (\S+)/.exec(created.stdout())?.[1] ?? ''
    const entry = JSON.parse(created.stdout().slice(created.stdout().indexOf('{')))
    expect(entry).toEqual({ projectId: 'demo', serverKey: expect.stringMatching(/^hmac-sha256:/) })
    const { url } = await serve({ ...minimal, projects: [entry] })
    expect((await call(url, '/evm-chain', 'svc_getSyncStatus', 31337, { key })).status).toBe(200)
    expect((await call(url, '/evm-chain', 'svc_getSyncStatus', 31337, { key: entry.serverKey })).status).toBe(
      401
    )
  })

  it.each(['a:b', ''])('makes no key for a name that no configuration takes: %j', async name => {
    const command = start(['project', 'create', name])
    expect(await command.ended).toBe(1)
    expect(command.stdout()).toBe('')
    expect(command.stderr()).toContain('without a colon')
  })
})

describe.concurrent('chain-data', () => {
  it('tells its version', async () => {
    const command = start(['--version'])
    expect(await command.ended).toBe(0)
    expect(command.stdout().trim()).toBe(packageFile.version)
  })

  it('explains every key and variable', async () => {
    const command = start(['serve', '--help'])
    expect(await command.ended).toBe(0)
    expect(command.stdout()).toMatch(/--config <file>[\s\S]*history\.maxUnpaged[\s\S]*CHAIN_DATA_PROJECT/)
  })
})
