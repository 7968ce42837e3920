import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import type { HistoryCertificate } from '@chain-data/protocol'
import { examples } from '@chain-data/protocol/examples'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createJsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { askCertificate } from '../../src/server/cli/askCertificate.ts'
import { createProgram } from '../../src/server/cli/createProgram.ts'
import type { ConfigInput } from '../../src/server/config/config.ts'
import { createServer } from '../../src/server/start/createServer.ts'
import { type ServiceChanges, startService } from '../http/startService.ts'
import { type RunningCommand, runCommand } from './runCommand.ts'

const [proven, failed] = examples.svc_verifyHistory.map(({ result }) => result)
if (proven === undefined || failed === undefined) throw new Error('the document has two examples')
const { address } = proven
const projectKey = ['--project', 'demo', '--key', 'demo-server-key']

let folder: string
const running: RunningCommand[] = []
const cleanUps: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-verify-'))
})
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  await rm(folder, { recursive: true, force: true })
})

/** The real HTTP layer around this certificate. */
async function serve(
  certificate: (address: string, options?: object) => HistoryCertificate | Promise<never>,
  changes: ServiceChanges = {}
): Promise<{ readonly url: string; readonly port: number }> {
  const service = startService({
    ...changes,
    handlers: { svc_verifyHistory: async ([who, options]) => certificate(who, options) }
  })
  const listener = await service.listen()
  cleanUps.push(async () => {
    await listener.close(0)
    await service.close()
  })
  return { url: listener.url, port: Number(new URL(listener.url).port) }
}

/** Something else that speaks HTTP. */
async function serveOther(listener: RequestListener): Promise<string> {
  const other = createHttpServer(listener)
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => {
    other.closeAllConnections()
    return new Promise(resolve => other.close(resolve))
  })
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`
}

async function configure(config: object): Promise<string> {
  const file = join(folder, 'config.json')
  const chains = { evm: [{ chainId: 31337, rpcUrls: ['http://127.0.0.1:1'] }] }
  await writeFile(file, JSON.stringify({ chains, ...config }))
  return file
}

/** In this process, because each command of its own takes seconds. */
async function verifyHere(...args: readonly string[]) {
  const told = { stdout: '', stderr: '' }
  const exit = vi.spyOn(process, 'exit').mockImplementation(code => {
    process.exitCode = code ?? 0
    throw new Exited()
  })
  const writes = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(text => {
      told[name] += String(text)
      return true
    })
  )
  try {
    await createProgram().parseAsync(['node', 'chain-data', 'verify', ...args])
  } catch (error) {
    if (!(error instanceof Exited)) throw error
  } finally {
    for (const spy of [exit, ...writes]) spy.mockRestore()
  }
  const code = process.exitCode
  process.exitCode = undefined
  return { code, ...told }
}

class Exited extends Error {}

async function verify(...args: readonly string[]) {
  const command = runCommand(['verify', ...args], { TMPDIR: folder })
  running.push(command)
  return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() }
}

const ask = (url: string, methodPrefix = 'svc_') =>
  askCertificate({ url, projectId: 'demo', key: 'demo-server-key', methodPrefix }, 31337, address)

describe('chain-data verify', () => {
  it('asks the server of the configuration with its first key in plain text, and exits 0 when all is proven', async () => {
    const asked: string[] = []
    const { port } = await serve(who => {
      asked.push(who)
      return proven
    })
    const digest = `hmac-sha256:${'a'.repeat(22)}:${'b'.repeat(43)}`
    const projects = [
      { projectId: 'hidden', serverKey: digest },
      { projectId: 'demo', serverKeys: [{ key: digest }, 'demo-server-key'] }
    ]
    const file = await configure({ listen: { port }, projects })
    const { code, stdout, stderr } = await verify('31337', address, '--config', file)
    expect([code, stderr, asked]).toEqual([0, '', [address]])
    expect(stdout).toMatch(
      /^PROVEN: nothing is missing.*\nComplete: proven. Unaltered: proven.\n\nAccount {2}0x7099/
    )
    expect(stdout).toMatch(/\nNo findings\.\n$/)
  })

  it('exits 1 when something is missing, and 3 when not everything can be known', async () => {
    const lacking = await serve(() => failed)
    const first = await verify('31337', address, '--url', lacking.url, ...projectKey)
    expect([first.code, first.stderr]).toEqual([1, ''])
    expect(first.stdout).toMatch(/^FAILED: something is missing.*\nFINDINGS\n- MISSING_TRANSACTION \(block/s)
    const unknown = await serve(() => ({ ...proven, verdict: 'unprovable' }))
    const second = await verifyHere('31337', address, '--url', `${unknown.url}/`, ...projectKey, '--json')
    expect([second.code, second.stderr]).toEqual([3, ''])
    expect(JSON.parse(second.stdout)).toEqual({ ...proven, verdict: 'unprovable' })
  })

  it('has blocks held against their headers where it is told to', async () => {
    const asked: unknown[] = []
    const { url } = await serve((_who, options) => {
      asked.push(options)
      return proven
    })
    await verifyHere('31337', address, '--url', url, ...projectKey, '--roots')
    await verifyHere('31337', address, '--url', url, ...projectKey)
    expect(asked).toEqual([{ verify: 'roots' }, undefined])
  })

  it('keeps its exit code for a reader who has gone', async () => {
    const { url } = await serve(() => ({ ...proven, verdict: 'unprovable' }))
    const args = ['verify', '31337', address, '--url', url, ...projectKey]
    const command = runCommand(args, { TMPDIR: folder })
    running.push(command)
    command.child.stdout?.destroy()
    expect([await command.ended, command.stderr()]).toEqual([3, ''])
  })

  it('prints JSON in which no character of a server can move the cursor', async () => {
    const findings = [{ kind: 'MISSING_BLOCK', message: 'a\u001b[2J\u009b\u202e\u{1f600}"' }]
    const { url } = await serve(() => ({ ...failed, findings }))
    const { stdout } = await verifyHere('31337', address, '--url', url, ...projectKey, '--json')
    expect(stdout).toMatch(/^[ -~]+\n$/)
    expect(JSON.parse(stdout).findings).toEqual(findings)
  })

  it.each([
    ['no address', ['1'], /missing required argument 'address'/],
    ['a chain that is none', ['mainnet', address], /chainId.*integer from 0/],
    ['an address that is none', ['1', '0x12'], /address.*40 digits of hex/],
    ['a URL that is none', ['1', address, '--url', 'ftp://host'], /--url.*Expected http/],
    ['an option that is none', ['1', address, '--fast'], /unknown option '--fast'/]
  ])('exits 2 for %s, naming it', async (_what, args, told) => {
    const { code, stdout, stderr } = await verifyHere(...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(told)
  })

  it('exits 2 when it lacks a key, and sends none of a configuration to a URL that was named alone', async () => {
    let isAsked = false
    const url = await serveOther((_request, response) => {
      isAsked = true
      response.end()
    })
    const alone = await verifyHere('1', address, '--url', url)
    expect([alone.code, alone.stderr, isAsked]).toEqual([
      2,
      'A server named by --url needs credentials; expected --project and --key, or --config\n',
      false
    ])
    const digest = `hmac-sha256:${'a'.repeat(22)}:${'b'.repeat(43)}`
    const file = await configure({ projects: [{ projectId: 'demo', serverKey: digest }] })
    const digested = await verifyHere('1', address, '--config', file, '--project', 'demo')
    expect([digested.code, digested.stderr]).toEqual([
      2,
      'The configuration has no key of project "demo" in plain text; expected --project and --key\n'
    ])
    const wrong = await verifyHere('1', address, '--config', await configure({ listen: { port: 'x' } }))
    expect([wrong.code, wrong.stderr]).toMatchObject([2, expect.stringMatching(/^Configuration error:/)])
  })
})

describe('the certificate that is asked for', () => {
  it('may hold more than is known here', async () => {
    const more = { ...proven, native: { ...proven.native, 'a/b~': 1 }, later: { a: [1] } }
    const { url } = await serve(() => more)
    expect(await ask(url)).toEqual(proven)
  })

  it('comes under the prefix of the server', async () => {
    const { url } = await serve(() => proven, { methodPrefix: 'acme_' })
    expect(await ask(url, 'acme_')).toEqual(proven)
    await expect(ask(url)).rejects.toThrow(/^The server gives no certificate: METHOD_NOT_FOUND: .*svc_verify/)
  })

  it.each<[string, RequestListener, RegExp]>([
    ['a page', (_, response) => response.end('<html>'), /is not a chain-data server \(HTTP 200\)\.$/],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: 'http://other.example' }).end(),
      /is not a chain-data server \(HTTP 302\)\.$/
    ],
    [
      'no certificate',
      (_, response) => response.end('{"jsonrpc":"2.0","id":1,"result":{"verdict":"\\u001b[2J"}}'),
      /^What the server answered is no certificate: [ -~]+ is missing\.$/
    ],
    [
      'an amount that is none',
      (_, response) => {
        const result = { ...proven, sent: { ...proven.sent, count: '\u001b[2J' } }
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
      },
      /no certificate: \/sent\/count must be [ -~]+$/
    ],
    [
      'words that would move the cursor',
      (_, response) =>
        response.end(
          '{"error":{"code":1,"message":"x","data":{"reason":"\\u001b[2J","extraMessage":"a\\nb"}}}'
        ),
      /^The server gives no certificate: \[2J: ab$/
    ]
  ])('is told to be missing where %s comes', async (_what, listener, told) => {
    await expect(ask(await serveOther(listener))).rejects.toThrow(told)
  })

  it('is told to be missing in the words of the server', async () => {
    const { url } = await serve(async () => {
      throw new Refusal('NOT_SYNCED', 'The first backfill is running.', { indexedTo: 1, head: 2 })
    })
    await expect(ask(url)).rejects.toThrow('NOT_SYNCED: The first backfill is running.')
    const other = askCertificate(
      { url, projectId: 'demo', key: 'demo-server-key', methodPrefix: 'svc_' },
      5,
      address
    )
    await expect(other).rejects.toThrow(/UNSUPPORTED_CHAIN: .* It serves 1, 31337\.$/)
    const wrong = askCertificate({ url, projectId: 'demo', key: 'x', methodPrefix: 'svc_' }, 5, address)
    await expect(wrong).rejects.toThrow(/^The server does not know project "demo" with this key/)
    const gone = await serveOther(() => {})
    await cleanUps.pop()?.()
    await expect(ask(gone)).rejects.toThrow(`No server answers at ${gone} (ECONNREFUSED).`)
  })
})

it('proves the account of a real chain', async () => {
  const anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  const rpc = createJsonRpc(anvil.rpcUrl)
  const [from, to] = (await rpc('eth_accounts')) as [string, string]
  await rpc('eth_sendTransaction', { from, to, value: '0x7' })
  await rpc('evm_mine')
  const config: ConfigInput = {
    listen: { port: 0 },
    store: `sqlite:${join(folder, 'store')}`,
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId: 31337, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50, traces: 'on' }] },
    log: { level: 'silent' }
  }
  const server = await createServer(config)
  cleanUps.push(() => server.close())
  const url = await server.listen()
  const head = Number(await rpc('eth_blockNumber'))
  await eventually('the block is indexed', async () => server.status()[0]?.indexedTo?.number === head, 20_000)
  const { code, stdout } = await verify('31337', from, '--url', url, ...projectKey)
  expect(stdout).toMatch(/^PROVEN/)
  expect(stdout).toMatch(/\nsent +proven +1 transaction; the chain counts 1\n/)
  expect(code).toBe(0)
})
