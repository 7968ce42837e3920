import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type AnvilNode, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { createCertificate } from '../guard/createCertificate.ts'
import { startScriptedNode } from '../solana/startScriptedNode.ts'
import { type Fault, Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { startHardhat } from '../support/startHardhat.ts'
import { onlyHardhat } from '../support/testClients.ts'
import { mainFile, type RunningCommand, runCommand } from './runCommand.ts'

const run = promisify(execFile)
const hasScript = spawnSync('script', ['--version']).status === 0

let anvil: AnvilNode

beforeAll(async () => {
  anvil = await startAnvil()
  await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil.stop())

/** What a test works with: tests run beside each other, so each has a folder of its own, which ends with it. */
type Place = Awaited<ReturnType<typeof openPlace>>

async function openPlace({ onTestFinished }: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-init-'))
  const file = join(folder, 'chain-data.json')
  onTestFinished(() => rm(folder, { recursive: true, force: true }))

  function init(...args: readonly string[]): RunningCommand {
    const command = runCommand(['init', '--config', file, ...args])
    onTestFinished(async () => {
      command.child.kill('SIGKILL')
      await command.ended
    })
    return command
  }

  /** Runs it to its end, without questions. */
  async function initAndEnd(...args: readonly string[]) {
    const command = init('--yes', ...args)
    const code = await command.ended
    return { code, stdout: command.stdout(), stderr: command.stderr() }
  }

  async function writtenChain(kind: 'evm' | 'solana' = 'evm'): Promise<object> {
    return JSON.parse(await readFile(file, 'utf8')).chains[kind][0]
  }

  async function proxied(fault: Fault): Promise<string> {
    const proxy = await startFaultProxy(anvil.rpcUrl)
    onTestFinished(proxy.close)
    proxy.setFault(fault)
    return proxy.url
  }

  /** A node that answers only requests of one kind, as those of providers do. */
  async function guarded(isAllowed: (request: IncomingMessage) => boolean, status: number): Promise<string> {
    const server = createServer(async (request, response) => {
      const body = await buffer(request)
      if (!isAllowed(request)) {
        response.writeHead(status).end('{"error":"no such key"}')
        return
      }
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(anvil.rpcUrl, { method: 'POST', headers, body })
      response.writeHead(200, headers).end(await answer.text())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** The node over TLS. */
  async function encrypted(key: string, cert: string): Promise<string> {
    const server = createSecureServer({ key, cert }, async (request, response) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(anvil.rpcUrl, { method: 'POST', headers, body: await buffer(request) })
      response.writeHead(200, headers).end(await answer.text())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    })
    return `https://localhost:${(server.address() as AddressInfo).port}`
  }

  /** Starts the service that was written, and runs the printed line of curl until it is answered. */
  async function startAndAsk(
    ...args: readonly string[]
  ): Promise<{ stdout: string; result: readonly object[]; address: string }> {
    const port = await freePort()
    const command = init('--yes', '--start', '--port', String(port), ...args)
    const isReady = async () =>
      (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined))?.status
    // Not `expect.poll`, which belongs to one test at a time.
    await eventually('it is ready', async () => (await isReady()) === 200)
    const [line = ''] = /^curl .*$/m.exec(command.stdout()) ?? []
    const [, address = ''] = /"params":\["(\w+)"/.exec(line) ?? []
    const { stdout } = await run('sh', ['-c', line])
    const { result } = JSON.parse(stdout) as { result: readonly object[] }
    const [, pages = ''] = /"url":"([^"]+)","msg":"operator pages"/.exec(command.stdout()) ?? []
    expect((await fetch(pages)).headers.get('content-type')).toContain('text/html')
    return { stdout: command.stdout(), result, address }
  }

  async function pageUrl(): Promise<string> {
    const node = await startScriptedNode(() => ({ body: '<html>Welcome</html>' }))
    onTestFinished(node.close)
    return node.url
  }

  return { folder, file, initAndEnd, writtenChain, proxied, guarded, encrypted, pageUrl, startAndAsk }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

describe.concurrent('chain-data init', () => {
  it('on anvil writes what starts, and prints a call that is answered for an account that was active', async context => {
    const { folder, writtenChain, startAndAsk } = await openPlace(context)
    const { stdout, result, address } = await startAndAsk(anvil.rpcUrl)
    expect(stdout).toMatch(/: Chain 31337\n/)
    expect(stdout).toMatch(/blocks +it has all blocks, and their state \(an archive node\)/)
    expect(stdout).toMatch(/addresses +transactions of an address are listed by trace_filter/)
    expect(stdout).toMatch(/traces +block \d+ with \d+ transactions? is traced by trace_block/)
    expect(stdout).toMatch(/pool +\d+ pending transactions/)
    expect(stdout).toMatch(/The index begins at block 0/)
    expect(stdout).toMatch(/Status page: +http:\/\/127\.0\.0\.1:\d+\//)
    expect(stdout).toContain("import { createClient } from '@chain-data/client'")
    expect(await writtenChain()).toEqual({
      chainId: 31337,
      rpcUrls: [anvil.rpcUrl],
      startBlock: 0,
      traces: 'auto'
    })
    expect(result.length).toBeGreaterThan(0)
    expect(JSON.stringify(result).toLowerCase()).toContain(address.toLowerCase())
    const [program = ''] = /^import \{ createClient[\s\S]*?^console\.log\(.*$/m.exec(stdout) ?? []
    const node = ['--conditions=@chain-data/source', '--input-type=module', '--eval', program]
    const printed = await run(process.execPath, node, { cwd: import.meta.dirname })
    expect(printed.stdout.toLowerCase()).toContain(address.toLowerCase())
    const { projects } = JSON.parse(await readFile(join(folder, 'projects.json'), 'utf8'))
    expect(projects).toEqual([
      {
        projectId: 'demo',
        serverKeys: [{ key: expect.stringMatching(/^hmac-sha256:/), createdAt: expect.any(String) }]
      }
    ])
  })

  it('on a copy of a public chain, as anvil --fork-url makes, sets dev and says why', async context => {
    const { writtenChain, startAndAsk } = await openPlace(context)
    const node = await startAnvil({ chainId: 137 })
    context.onTestFinished(() => node.stop())
    const { stdout, result } = await startAndAsk(node.rpcUrl)
    expect(stdout).toMatch(
      /Polygon \(137\): the node is a developer's, and copies this chain under its id\. "dev": true is set/
    )
    expect(await writtenChain()).toMatchObject({ chainId: 137, dev: true })
    expect(result).toEqual([])
  })

  it.for(onlyHardhat)('on %s, which has no traces and no index of addresses', async (_, context) => {
    const { startAndAsk } = await openPlace(context)
    const node = await startHardhat()
    context.onTestFinished(() => node.stop())
    const { stdout, result } = await startAndAsk(node.rpcUrl)
    expect(stdout).toMatch(/addresses +it does not list the transactions of an address/)
    expect(stdout).toContain('no transaction was found in its newest blocks, so this account has none')
    expect(result).toEqual([])
  })

  it('on a node with nothing but eth_, net_ and web3_', async context => {
    const { writtenChain, proxied, startAndAsk } = await openPlace(context)
    const url = await proxied(({ method }, result) => {
      if (!/^(eth|net|web3)_/.test(method) || method === 'eth_getBlockReceipts') throw new Refusal(-32601)
      return result
    })
    const { stdout, result } = await startAndAsk(url)
    expect(stdout).toMatch(/receipts .* receipts one by one/)
    expect(stdout).toMatch(/traces +.*no upstream offers traces/)
    expect(await writtenChain()).toEqual({ chainId: 31337, rpcUrls: [url], startBlock: 0 })
    expect(result.length).toBeGreaterThan(0)
  })

  it('on a pruned node begins at the oldest block that it has', async context => {
    const { writtenChain, proxied, startAndAsk } = await openPlace(context)
    const url = await proxied(({ method, params }, result) => {
      const height = Number(params[method === 'eth_getBalance' ? 1 : 0])
      if (method === 'eth_getBalance' && height < 30) throw new Refusal(-32000, 'missing trie node')
      if (method === 'eth_getBlockByNumber' && height > 0 && height < 20)
        throw new Refusal(4444, 'pruned history unavailable')
      return result
    })
    const { stdout, result } = await startAndAsk(url)
    expect(stdout).toMatch(/blocks +its oldest block is 20 \(pruned\), without the state of old ones/)
    expect(stdout).toContain('The node has dropped its blocks below 20')
    expect(await writtenChain()).toMatchObject({ startBlock: 20 })
    expect(result.length).toBeGreaterThan(0)
  })

  it('with a key in the URL works, keeps the file to its owner and prints no key', async context => {
    const { file, initAndEnd, writtenChain, guarded } = await openPlace(context)
    const key = 'k3y-of-the-provider'
    const byPath = await guarded(({ url }) => url === `/v2/${key}`, 404)
    const basic = `Basic ${Buffer.from(`user:${key}`).toString('base64')}`
    const byHeader = (await guarded(({ headers }) => headers.authorization === basic, 401)).replace(
      '//',
      `//user:${key}@`
    )
    const { code, stdout, stderr } = await initAndEnd(`${byPath}/v2/${key}`, byHeader)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).not.toContain(key)
    expect(await writtenChain()).toMatchObject({ rpcUrls: [`${byPath}/v2/${key}`, byHeader] })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('says TLS where it is spoken, what to do where it fails, and that the service has none', async context => {
    const { folder, initAndEnd, encrypted } = await openPlace(context)
    const { key, cert } = createCertificate('localhost')
    const url = await encrypted(key, cert)
    const untrusted = await initAndEnd(url)
    expect(untrusted.code).toBe(1)
    expect(untrusted.stderr).toMatch(
      /: it cannot be reached \(\w+\)\. Its certificate is not accepted: .* NODE_EXTRA_CA_CERTS$/m
    )
    const plain = await initAndEnd(anvil.rpcUrl.replace('http:', 'https:'))
    expect(plain.stderr).toMatch(/\. It speaks no TLS at that port: write http:\/\/ in the URL/)

    const authority = join(folder, 'authority.pem')
    await writeFile(authority, cert)
    const command = runCommand(['init', '--yes', '--config', join(folder, 'chain-data.json'), url], {
      NODE_EXTRA_CA_CERTS: authority
    })
    expect(await command.ended).toBe(0)
    expect(command.stdout()).toMatch(/^ +chain +.*, answers in \d+ ms over TLS$/m)
    expect(command.stdout()).toMatch(/^The service listens without TLS on this machine only\. /m)
  })

  it('without the key says where it belongs, by the host of the node, and writes nothing', async context => {
    const { folder, file, initAndEnd, guarded } = await openPlace(context)
    const byHeader = await guarded(({ headers }) => headers['x-api-key'] === 'right', 401)
    const { code, stdout, stderr } = await initAndEnd(`${byHeader}/some-path`, anvil.rpcUrl)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^127\.0\.0\.1:\d+: it answered HTTP 401\. Check the key: .*https:\/\/<user>:<password>@<host>.* another header needs a proxy/
    )
    expect(stdout + stderr).not.toContain('some-path')
    await expect(stat(file)).rejects.toThrow('ENOENT')
    await expect(stat(join(folder, 'projects.json'))).rejects.toThrow('ENOENT')
  })

  it.for<[string, (place: Place) => Promise<readonly string[]>, RegExp]>([
    [
      'a node that is not there',
      async () => ['http://127.0.0.1:1'],
      /^127\.0\.0\.1:1: it cannot be reached \(ECONNREFUSED\)\. Check that it runs/
    ],
    [
      'a web page',
      async ({ pageUrl }) => [await pageUrl()],
      /: it answered something that is not JSON\. This is no JSON-RPC address/
    ],
    [
      'a node of another chain',
      async () => ['polygon', anvil.rpcUrl],
      /: it serves Chain 31337, expected Polygon \(137\)/
    ],
    [
      'a chain and no URL',
      async () => ['polygon'],
      /^No URL of a node of Polygon \(137\) was given; expected one, such as: chain-data init/
    ],
    [
      'a name that may be several',
      async () => ['polyg'],
      /^"polyg" may be one of several chains: Polygon \(137\), /
    ],
    [
      'an unknown name',
      async () => ['nochain'],
      /^"nochain" is neither the URL of a node nor a chain known by name/
    ],
    [
      'a WebSocket',
      async () => ['wss://host/k3y-in-the-path'],
      /^wss:\/\/host is a WebSocket; expected the http/
    ],
    [
      'a node that limits the rate of calls',
      async ({ guarded }) => [await guarded(() => false, 429)],
      /: it limits the rate of calls \(HTTP 429\)\. It limits the rate of calls: wait/
    ]
  ])('given %s says so and writes nothing', async ([, args, message], context) => {
    const place = await openPlace(context)
    const { file, initAndEnd } = place
    const { code, stderr } = await initAndEnd(...(await args(place)))
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('on a chain whose blocks break checks writes the waivers when they are allowed, and else says which they are', async context => {
    const { file, initAndEnd, writtenChain, proxied, startAndAsk } = await openPlace(context)
    // A chain that nothing is known of, so that its blocks are not held against their headers.
    const other = 987_654
    const url = await proxied(({ method }, result) => {
      if (method === 'eth_chainId') return `0x${other.toString(16)}`
      if (method !== 'eth_getBlockByNumber') return result
      return { ...(result as object), logsBloom: `0x${'ff'.repeat(256)}` }
    })
    const { code, stderr } = await initAndEnd(url)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^Blocks of Chain 987654 break these checks on every node given: logsBloom\n {2}\{"check":"logsBloom"/
    )
    expect(stderr).toContain('allow it by --waive')
    await expect(stat(file)).rejects.toThrow('ENOENT')
    const { result } = await startAndAsk(url, '--waive')
    expect(await writtenChain()).toMatchObject({
      waivers: [{ check: 'logsBloom', fromBlock: 0, toBlock: null }]
    })
    expect(result.length).toBeGreaterThan(0)
  })

  it('asks a person at a terminal for the URL, and whether to overwrite and to start', {
    skip: !hasScript
  }, async context => {
    const { file, writtenChain } = await openPlace(context)
    await writeFile(file, 'old')
    const command = `exec '${process.execPath}' --conditions=@chain-data/source '${mainFile}' init --config '${file}'`
    const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text
    })
    const ended = once(child, 'close')
    context.onTestFinished(async () => {
      child.kill('SIGKILL')
      await ended
    })
    const answer = async (question: string, text: string) => {
      await eventually(question, () => output.includes(question), 20_000)
      child.stdin.write(`${text}\r`)
    }
    await answer('is there. Overwrite it? [y/N]', 'y')
    await answer('URL of a node, such as https://host/key:', anvil.rpcUrl)
    await answer('Start the server now? [Y/n]', 'n')
    await ended
    expect(output).toContain('Start it:  npx chain-data serve --config')
    expect(await writtenChain()).toMatchObject({ chainId: 31337, rpcUrls: [anvil.rpcUrl] })
  })

  it('overwrites no configuration unless it is told to', async context => {
    const { file, initAndEnd, writtenChain } = await openPlace(context)
    await writeFile(file, 'precious')
    const refused = await initAndEnd(anvil.rpcUrl)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/is there, and stays as it is; expected --force/)
    expect(await readFile(file, 'utf8')).toBe('precious')
    expect((await initAndEnd(anvil.rpcUrl, '--force')).code).toBe(0)
    expect(await writtenChain()).toMatchObject({ chainId: 31337 })
  })

  it('writes a Solana cluster beside an EVM chain, and asks which one an unknown cluster is', async context => {
    const { initAndEnd, writtenChain } = await openPlace(context)
    const answers: Readonly<Record<string, unknown>> = {
      getGenesisHash: '9uNknownGenesis1111111111111111111111111111',
      getVersion: { 'solana-core': '2.1.0' },
      getBalance: { context: { slot: 77 }, value: 1 },
      getBlockTime: Math.floor(Date.now() / 1_000),
      getMultipleAccounts: { context: { slot: 77 }, value: [null, null] },
      getTokenAccountsByOwner: { context: { slot: 77 }, value: [] },
      getSignaturesForAddress: [{ signature: 'sig' }],
      getTransaction: {
        transaction: { message: { accountKeys: ['So1anaPayer1111111111111111111111111111111'] } }
      }
    }
    const node = await startScriptedNode(({ id, method }) => {
      const result = answers[method]
      const answer =
        result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
      return { body: JSON.stringify({ jsonrpc: '2.0', id, ...answer }) }
    })
    context.onTestFinished(node.close)
    // It tells that of no well-known cluster.
    node.genesisHash = undefined
    const unknown = await initAndEnd(node.url)
    expect(unknown.stderr).toMatch(/a Solana cluster that is not well known\. Name its chain id/)
    const both = await initAndEnd('103', '31337', node.url, anvil.rpcUrl)
    expect([both.code, both.stderr]).toEqual([0, ''])
    expect(both.stdout).toContain('"chainId":103,"params":["So1anaPayer1111111111111111111111111111111"]')
    expect(both.stdout).toContain('the node is of another cluster under this id, so "dev": true is set')
    expect(await writtenChain('solana')).toEqual({ chainId: 103, rpcUrls: [node.url], dev: true })
    expect(await writtenChain()).toMatchObject({ chainId: 31337 })
  })
})
