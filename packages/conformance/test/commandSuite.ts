import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type ErrorReason, errors } from '@chain-data/protocol'
import { createServer as createService } from '@chain-data/server'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runCli } from '../src/cli/runCli.ts'
import { listChecks, type Report } from '../src/index.ts'
import { type Change, onAnswers } from './support/changes.ts'
import { type ChangingProxy, startProxy } from './support/startProxy.ts'
import { project, type Target } from './support/startTarget.ts'

/** Runs the command as a shell does, and gives what it printed. */
async function run(args: readonly string[], env: Record<string, string> = {}, isTTY = false) {
  let [stdout, stderr] = ['', '']
  const exitCode = await runCli({
    args,
    env,
    stdout: { write: text => (stdout += text) },
    stderr: { write: text => (stderr += text), isTTY }
  })
  return { exitCode, stdout, stderr }
}

const { projectId, serverKey } = project
const access = ['--project', projectId, '--key', serverKey]

const withOutcome = ({ results }: Report, outcome: string) =>
  results.filter(result => result.outcome === outcome).map(({ name }) => name)

/** Answers one reason in place of what came, wherever the condition holds. */
function declining(
  reason: ErrorReason,
  path: string | undefined,
  when: (text: string, target: string) => boolean
): Change {
  return (answer, { body = '', target: url }) => {
    if (!when(body, url)) return answer
    const { code, message } = errors[reason]
    const error = { code, message, data: { reason, extraMessage: 'Not here.', ...(path && { path }) } }
    const id = reason === 'INVALID_REQUEST' ? null : 1
    return { ...answer, status: 200, text: JSON.stringify({ jsonrpc: '2.0', id, error }) }
  }
}

/** The command over a real service, and over proxies that change what it answers. */
export function describeCommand(target: () => Target): void {
  let proxy: ChangingProxy
  const examine = (...args: string[]) => run(['--base-url', proxy.baseUrl, ...access, ...args])

  /** Runs it for JSON. */
  async function report(...args: string[]): Promise<Report & { exitCode: number }> {
    const { exitCode, stdout } = await examine('--json', ...args)
    return { exitCode, ...(JSON.parse(stdout) as Report) }
  }

  beforeAll(async () => {
    proxy = await startProxy(target().baseUrl)
  })

  beforeEach(() => {
    proxy.change = undefined
  })

  afterAll(() => proxy?.close())

  it('finds chains and accounts by itself, and nothing wrong', async () => {
    const { exitCode, stdout, stderr } = await examine('--accounts', '2')
    expect(stdout).toMatch(/^EVM {7}chain 31337$/m)
    expect(stdout).toContain('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
    expect(stdout).toMatch(/^\d+ passed, 0 failed, 0 not offered, \d not shown, in \d+ requests$/m)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  it('shows what failed with the exchange and its place in the document, and ends with 1', async () => {
    proxy.change = onAnswers(answer => {
      if (answer.id === -7) answer.id = 7
    })
    const { exitCode, stdout } = await examine('--only', 'vectors/id/*')
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^vectors\/id {2}\d+ passed, 1 FAILED$/m)
    const [, failure = ''] = stdout.split('FAILED vectors/id/negative\n')
    expect(failure).toContain('  expected  A negative id comes back.\n  found     /id is 7, not -7\n')
    expect(failure).toContain('  document  #/x-envelope/id\n    > POST /evm-chain\n')
    expect(failure).toContain('    > {"jsonrpc":"2.0","id":-7,')
    expect(failure).toContain('    < {"jsonrpc":"2.0","id":7,')
  })

  it('prints its report as JSON, with the checks that were asked for', async () => {
    const found = await report(
      '--only',
      'history/*',
      '--only',
      'pages/limits',
      '--except',
      '*/once',
      '--accounts',
      '1'
    )
    expect(found.exitCode).toBe(0)
    const names = listChecks().map(({ name }) => name)
    const expected = names.filter(
      name => /^(history\/.*|pages\/limits)$/.test(name) && name !== 'history/once'
    )
    expect(found.results.map(({ name }) => name)).toEqual(expected)
    expect(withOutcome(found, 'failed')).toEqual([])
  })

  it('calls extensions that a service does not have not offered, never failed', async () => {
    const isMethod = (text: string) =>
      /"(svc_getSyncStatus|svc_verifyHistory|svc_watchAddresses|enhancedGetTransactionsByAddress|rpc\.discover)"/.test(
        text
      )
    const changes = [
      declining('METHOD_NOT_FOUND', undefined, isMethod),
      declining('INVALID_REQUEST', undefined, text => text.startsWith('[')),
      declining('INVALID_REQUEST', '/id', text => /"id":"/.test(text)),
      declining('INVALID_PARAMS', '/params', text => /"svc_getTransactionsByAddress".*",\{/.test(text)),
      declining('INVALID_PARAMS', '/params', text => /\[\{"accountAddress":"\w+"(,|\},)/.test(text)),
      declining('INVALID_PARAMS', '/chainId', (_text, url) => /\?chainId=\d/.test(url))
    ]
    proxy.change = (answer, request) => {
      const changed = changes.reduce((now, change) => change(now, request), answer)
      const { 'x-chain-data-coverage': _, ...headers } = changed.headers
      const kept = Object.entries(headers).filter(([name]) => !name.startsWith('access-control-'))
      return { ...changed, headers: Object.fromEntries(kept) }
    }
    const found = await report('--address', target().addresses[0]!, '--accounts', '1')
    expect(withOutcome(found, 'failed')).toEqual([])
    const declined = found.results.filter(({ outcome }) => outcome === 'not-offered')
    const reasons = new Set(declined.map(({ reason }) => reason?.split(':')[0]))
    expect(reasons).toEqual(new Set(listChecks().flatMap(({ extension }) => extension ?? [])))
    expect(found.exitCode).toBe(0)
  })

  it('never prints the key, also where a service repeats it', async () => {
    const key = 'demo-server-key'
    const encoded = Buffer.from(`${projectId}:${key}`).toString('base64')
    proxy.change = answer => ({
      ...answer,
      text: `{"you":"${key}","sent":"Basic ${encoded}"}`,
      headers: { you: encoded }
    })
    for (const args of [['--json'], []]) {
      const { exitCode, stdout, stderr } = await examine(...args)
      expect(exitCode).toBe(1)
      expect(stdout.length).toBeGreaterThan(10_000)
      expect(stdout + stderr).not.toContain(key)
      expect(stdout + stderr).not.toContain(encoded)
      expect(stdout).toContain('***')
    }
  })

  it('fails every check, and ends, where a service answers something else altogether', async () => {
    for (const text of ['<html>', '{"result":null}', '{"result":[null]}']) {
      proxy.change = () => ({ status: 200, headers: {}, text })
      const found = await report('--evm-chain', '31337', '--solana-chain', '103')
      expect(withOutcome(found, 'passed'), text).toEqual([])
      expect(withOutcome(found, 'failed').length).toBeGreaterThan(150)
    }
  })

  it('shows what a hostile service says without handing it to the terminal', async () => {
    proxy.change = answer => ({ ...answer, text: '{"\u001b[2J":"\u202e"}' })
    const { stdout } = await examine('--only', 'vectors/id/none', '--evm-chain', '31337')
    expect(stdout).toContain('{"\\u{1b}[2J":"\\u{202e}"}')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).not.toContain('\u202e')
  })

  it('waits as long as a service wants that has no more quota', async () => {
    let refused = 0
    proxy.change = answer =>
      refused++ % 3 === 0 ? { status: 429, headers: { 'retry-after': '0' }, text: '{}' } : answer
    const found = await report('--only', 'vectors/id/*')
    expect(withOutcome(found, 'failed')).toEqual([])
    expect(refused).toBeGreaterThan(20)
  })

  it('waits for the quota of single parts of a batch', async () => {
    let refused = 0
    const error = {
      code: errors.RATE_LIMITED.code,
      message: errors.RATE_LIMITED.message,
      data: { reason: 'RATE_LIMITED', extraMessage: 'The quota of this project is used up.', retryAfterMs: 1 }
    }
    proxy.change = (answer, { body }) => {
      if (!body?.startsWith('[') || refused++ % 2 === 1) return answer
      return { ...answer, status: 200, text: JSON.stringify([{ jsonrpc: '2.0', id: 10, error }]) }
    }
    const found = await report('--only', 'envelope/batch-parts', '--accounts', '1')
    expect(found.results.map(({ outcome }) => outcome)).toEqual(['passed'])
    expect(refused).toBeGreaterThan(1)
  })

  it('gives up on answers that do not come, are cut, or refuse for too long', async () => {
    const one = ['--only', 'vectors/id/none', '--evm-chain', '31337'] as const
    proxy.change = () => {
      throw new Error('the connection is cut')
    }
    expect((await report(...one)).results[0]?.reason).toMatch(/^POST \/evm-chain: /)
    proxy.change = () => ({ status: 429, headers: { 'retry-after': '3600' }, text: '{}' })
    expect((await report(...one)).results[0]?.reason).toBe('HTTP 429, not 200')
    const silent = await startSilentServer()
    try {
      const { exitCode, stdout } = await run([
        '--base-url',
        silent.url,
        ...access,
        ...one,
        '--timeout-ms',
        '50'
      ])
      expect(stdout).toContain('no whole answer within 50 ms')
      expect(exitCode).toBe(1)
    } finally {
      silent.server.closeAllConnections()
      silent.server.close()
    }
  })

  it('examines a service with another prefix, below a path, with chains of other numbers', async () => {
    const service = await createService({
      listen: { port: 0 },
      store: 'sqlite::memory:',
      projects: [project],
      methodPrefix: 'acme_',
      chains: { solana: [{ chainId: 900, rpcUrls: ['http://127.0.0.1:9'] }] },
      login: false,
      log: { level: 'silent' }
    })
    const server = createServer((incoming, outgoing) => {
      incoming.url = incoming.url?.replace(/^\/api/, '')
      service.nodeHandler(incoming, outgoing)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const args = [
      '--base-url',
      `http://127.0.0.1:${port}/api/`,
      ...access,
      '--method-prefix',
      'acme_',
      '--json'
    ]
    const { stdout } = await run([...args, '--only', 'vectors/*', '--only', 'discover/*'])
    const found = JSON.parse(stdout) as Report
    expect(withOutcome(found, 'failed')).toEqual([])
    expect(withOutcome(found, 'passed')).toContain('vectors/enhancedGetTokensAndNFTs/option-twice')
    expect(withOutcome(found, 'not-shown')).toContain('vectors/id/none')
    expect(found).toMatchObject({ solanaChain: 900 })
    server.closeAllConnections()
    server.close()
    await service.close()
  })

  it('shows how far it is on a terminal, and takes that away again', async () => {
    const { stderr } = await run(['--base-url', proxy.baseUrl, ...access, '--only', 'vectors/id/*'], {}, true)
    expect(stderr).toMatch(/█+░* \d+ of \d+ checks/)
    expect(stderr).toMatch(/\r +\r$/)
  })

  it('takes the key from the environment, where other processes do not see it', async () => {
    const args = ['--base-url', proxy.baseUrl, '--project', projectId, '--only', 'vectors/transport/headers']
    expect((await run(args, { CHAIN_DATA_KEY: serverKey })).exitCode).toBe(0)
    expect((await run(args)).exitCode).toBe(2)
  })

  it('says that the credentials are wrong, not that no chain is served', async () => {
    const wrong = ['--project', projectId, '--key', 'another-server-key']
    const { exitCode, stdout } = await run(['--base-url', target().baseUrl, ...wrong])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('found     the service does not know this project with this key')
    expect(stdout).not.toContain('no chain is served at all')
  })
}

/** What is told before anything is sent. */
export function describeUsage(): void {
  it.each([
    ['no address of a service', [...access], '--base-url is missing'],
    [
      'an address that is none',
      ['--base-url', 'localhost', ...access],
      '--base-url must be an http or https address'
    ],
    [
      'credentials in the address',
      ['--base-url', 'http://a:b@x', ...access],
      '--base-url must hold no credentials'
    ],
    ['no project', ['--base-url', 'http://x', '--key', 'k'], '--project is missing'],
    [
      'a chain that is none',
      ['--base-url', 'http://x', ...access, '--evm-chain', '0x1'],
      '--evm-chain must be'
    ],
    ['no timeout', ['--base-url', 'http://x', ...access, '--timeout-ms', '0'], '--timeout-ms must be'],
    [
      'an address that is none',
      ['--base-url', 'http://x', ...access, '--address', '0x12'],
      '--address must be'
    ],
    ['an unknown flag', ['--base-url', 'http://x', ...access, '--fast'], 'an argument is unknown'],
    ['a key for a flag', ['secret-of-mine'], 'an argument is unknown'],
    [
      'a pattern that fits nothing',
      ['--base-url', 'http://x', ...access, '--only', 'x/*'],
      'no check has a name'
    ]
  ])('is wrong with %s', async (_what, args, message) => {
    const { exitCode, stdout, stderr } = await run(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/secret|demo-server-key/)
  })

  it('lists every check, with the extension it belongs to', async () => {
    const { exitCode, stdout } = await run(['--list'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('pages/before (pages)\n  Behind every confirmed record')
    const { stdout: json } = await run(['--list', '--json', '--only', 'solana/*'])
    expect((JSON.parse(json) as object[]).length).toBeGreaterThan(5)
  })

  it('says nothing against the service when the reader of the report has gone', async () => {
    const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
    const args = ['--conditions=@chain-data/source', main, '--list']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.destroy()
    expect(await once(child, 'close')).toEqual([0, null])
  })

  it('explains itself', async () => {
    const { exitCode, stdout } = await run(['--help'])
    expect(exitCode).toBe(0)
    for (const flag of ['--base-url', '--project', '--key', '--address', '--json', '--list'])
      expect(stdout).toContain(flag)
  })
}

/** A server that takes requests and says nothing. */
async function startSilentServer(): Promise<{ url: string; server: Server }> {
  const server = createServer(() => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
