import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { chainFiles, eventually, loadSqliteDriver } from '@chain-data/index/test'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import type { HealthReport } from '../../src/server/http/operatorPages.ts'
import { type RunningCommand, runCommand } from './runCommand.ts'

let anvil: AnvilNode
let driver: EvmDriver

beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil.stop())

async function freePort(): Promise<number> {
  const probe = createTcpServer()
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve))
  const { port: free } = probe.address() as AddressInfo
  await new Promise(resolve => probe.close(resolve))
  return free
}

/** What a test works with: tests run beside each other, so each has a folder and a port of its own. */
async function openPlace({ onTestFinished }: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-status-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  let port = await freePort()

  /** A node that answers every call with this result, as a Solana one that names its slot. */
  async function startSolanaNode(): Promise<string> {
    const node = createServer((request, response) => {
      let body = ''
      request.on('data', chunk => {
        body += chunk
      })
      request.on('end', () => {
        const { id } = JSON.parse(body)
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { context: { slot: 77 }, value: 1 } }))
      })
    })
    await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      node.closeAllConnections()
      return new Promise<void>(resolve => node.close(() => resolve()))
    })
    return `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  }

  async function configure(changes: object = {}): Promise<string> {
    const file = join(folder, 'config.json')
    await writeFile(
      file,
      JSON.stringify({
        listen: { port },
        store: `sqlite:${join(folder, 'store')}`,
        projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
        chains: { evm: [{ chainId: 31337, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 100, dev: false }] },
        ...changes
      })
    )
    return file
  }

  function start(...args: string[]): RunningCommand {
    const command = runCommand(args, { TMPDIR: folder })
    onTestFinished(async () => {
      command.child.kill('SIGKILL')
      await command.ended
    })
    return command
  }

  async function ask(file: string, ...options: string[]) {
    const command = start('status', '--config', file, ...options)
    return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() }
  }

  async function serve(file: string): Promise<RunningCommand> {
    const command = start('serve', '--config', file)
    await untilAllAre('following')
    return command
  }

  /** Asks the server itself: a command for each look would be a process for each look. */
  async function untilAllAre(phase: string, indexedTo?: number): Promise<void> {
    await eventually(
      `all chains are ${phase}, up to block ${indexedTo}`,
      async () => {
        const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
        if (response === undefined) return false
        const { chains, solana = [] } = (await response.json()) as HealthReport
        const isThere = chains.every(chain => indexedTo === undefined || chain.indexedTo === indexedTo)
        return isThere && [...chains, ...solana].every(chain => chain.phase === phase)
      },
      25_000
    )
  }

  return {
    ...{ folder, startSolanaNode, configure, start, ask, serve, untilAllAre },
    port: () => port,
    /** What is configured from now on has this port. */
    async changePort(): Promise<void> {
      port = await freePort()
    }
  }
}

const newest = () => driver.world.blocks.length - 1

describe.concurrent('chain-data status', () => {
  it('shows every chain of the running server, EVM and Solana, and exits 0 when all are followed', async context => {
    const { startSolanaNode, configure, ask, serve } = await openPlace(context)
    const file = await configure({
      chains: {
        evm: [{ chainId: 31337, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 100 }],
        solana: [{ chainId: 103, rpcUrls: [await startSolanaNode()] }]
      }
    })
    await serve(file)
    const { code, stdout } = await ask(file)
    expect(code).toBe(0)
    const [head, evm, solana] = stdout.split('\n').map(line => line.split(/ {2,}/))
    expect(head).toEqual(
      'CHAIN PHASE INDEXED HEAD AGE LAG FINALIZED DEGRADED POOL CHECKED PROBLEM'.split(' ')
    )
    expect(evm?.slice(0, 4)).toEqual(['evm 31337', 'following', `0-${newest()}`, String(newest())])
    expect(evm?.slice(4, 6)).toEqual([expect.stringMatching(/^\d+s$/), '0'])
    expect(evm?.slice(7)).toEqual([
      'no',
      expect.stringMatching(/^\d+s ago$/),
      expect.stringMatching(/^\d+%$/),
      '-'
    ])
    expect(solana?.slice(0, 4)).toEqual(['solana 103', 'following', '-', '77'])
    expect(solana?.slice(4, 6)).toEqual([expect.stringMatching(/^\d+s$/), '-'])
    const json = JSON.parse((await ask(file, '--json')).stdout)
    expect(json).toMatchObject({
      server: 'running',
      chains: [
        {
          kind: 'evm',
          chainId: 31337,
          phase: 'following',
          indexedTo: newest(),
          lagBlocks: 0,
          degraded: false
        },
        { kind: 'solana', chainId: 103, phase: 'following', head: 77 }
      ]
    })
  })

  it('exits 1 when a chain is not followed, and shows why', async context => {
    const { configure, start, ask, untilAllAre } = await openPlace(context)
    const file = await configure({
      chains: {
        evm: [{ chainId: 31337, rpcUrls: ['http://127.0.0.1:1'] }],
        solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1:1'] }]
      }
    })
    start('serve', '--config', file)
    await untilAllAre('stalled')
    const { code, stdout } = await ask(file)
    expect(code).toBe(1)
    expect(stdout).toMatch(/evm 31337 +stalled .*127\.0\.0\.1:1 cannot be reached.*\n.*solana 103 +stalled/)
  })

  it('reads the store when no server runs, also after a crash, says so, and changes nothing', async context => {
    const { port, configure, ask, serve } = await openPlace(context)
    const file = await configure()
    expect((await ask(file)).stdout).toMatch(/No server is running at 127.*\n.*\nevm 31337 +not running +- /)
    const server = await serve(file)
    server.child.kill('SIGKILL')
    await server.ended
    const { code, stdout } = await ask(file)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      new RegExp(`^No server is running at 127\\.0\\.0\\.1:${port()}\\. The stores say:\n`)
    )
    expect(stdout).toMatch(new RegExp(`evm 31337 +not running +0-${newest()} +- +- +- +\\d+ +no +- +-`))
    expect(JSON.parse((await ask(file, '--json')).stdout)).toMatchObject({
      server: 'not running',
      chains: [
        { chainId: 31337, phase: 'not running', backfilled: true, indexedFrom: 0, indexedTo: newest() }
      ]
    })
  })

  it('reads the store beside a server that is not asked, because its port is not known', async context => {
    const { configure, ask, serve } = await openPlace(context)
    await serve(await configure())
    const file = await configure({ listen: { port: 0 } })
    const { code, stdout } = await ask(file)
    expect(code).toBe(1)
    expect(stdout).toMatch(/port is not known/)
    expect(stdout).toContain(`0-${newest()}`)
  })

  it.for<[string, Server | TcpServer]>([
    ['another HTTP server', createServer((_, response) => response.end('{"ready":true}'))],
    [
      'a server with words that would move the cursor',
      createServer((_, response) =>
        response.end(JSON.stringify({ ready: true, chains: [{ chainId: 1, phase: '\u001b[2J' }] }))
      )
    ],
    [
      'something that speaks no HTTP',
      createTcpServer(socket => {
        socket.on('error', () => {}).end('220 mail ready\r\n', () => socket.destroy())
      })
    ]
  ])('says so when %s answers at the address', async ([, other], context) => {
    const { port, configure, ask } = await openPlace(context)
    await new Promise<void>(resolve => other.listen(port(), '127.0.0.1', resolve))
    context.onTestFinished(() => new Promise<void>(resolve => other.close(() => resolve())))
    const { code, stdout } = await ask(await configure())
    expect(code).toBe(1)
    expect(stdout).toMatch(/^What answers at 127\.0\.0\.1:\d+ is not a chain-data server\. The stores say:/)
  })

  it('goes on telling with --watch, until it is broken off', async context => {
    const { configure, start } = await openPlace(context)
    const command = start('status', '--config', await configure(), '--json', '--watch')
    const lines = await eventually(
      'it has told twice',
      () => command.logLines().length > 1 && command.logLines()
    )
    expect(lines.map(({ server }) => server)).toEqual(['not running', 'not running'])
    expect(command.child.exitCode).toBe(null)
    command.child.kill('SIGINT')
    expect(await command.ended).toBe(null)
  })

  it('exits 2 when the configuration is wrong', async context => {
    const { configure, ask } = await openPlace(context)
    const { code, stdout, stderr } = await ask(await configure({ listen: { port: 'x' } }))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^Configuration error:\nlisten\.port is "x"/)
  })

  it('lets no control character of a node through to the terminal', async context => {
    const { port, configure, ask } = await openPlace(context)
    const chains = [{ chainId: 1, phase: 'stalled', problem: 'a\u001b[2Jb\nc' }]
    const other = createServer((_, response) => response.end(JSON.stringify({ ready: false, chains })))
    await new Promise<void>(resolve => other.listen(port(), '127.0.0.1', resolve))
    context.onTestFinished(() => new Promise<void>(resolve => other.close(() => resolve())))
    expect((await ask(await configure())).stdout).toMatch(/ a \[2Jb c\n$/)
  })
})

describe('two servers over one store', () => {
  it('the second writes nothing and says so; it takes over when the first is killed', async context => {
    const { port, changePort, configure, start, ask, serve, untilAllAre } = await openPlace(context)
    const file = await configure()
    const first = await serve(file)
    const firstPort = port()
    await changePort()
    const other = await configure()
    const second = start('serve', '--config', other)
    await untilAllAre('following')
    const waiting = await ask(other)
    expect(waiting.code).toBe(0)
    expect(waiting.stdout).toMatch(
      new RegExp(`^evm 31337 +following, waiting +0-${newest()} .*s ago +- +-$`, 'm')
    )
    expect(second.logLines().map(({ msg }) => msg)).not.toContain('indexing starts')
    expect(firstPort).not.toBe(port())
    first.child.kill('SIGKILL')
    await first.ended
    await driver.mine({ blocks: 3 })
    await untilAllAre('following', newest())
    expect(second.logLines().map(({ msg }) => msg)).toContain('indexing starts')
    const { code, stdout } = await ask(other)
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^evm 31337 +following +0-${newest()} `, 'm'))
  })
})

it('a store of another build is refused at the start, with both formats and exit code 1', async context => {
  const { folder, configure, start, ask, serve } = await openPlace(context)
  const file = await configure()
  const server = await serve(file)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  const path = chainFiles(join(folder, 'store'), 31337).database
  const connection = loadSqliteDriver().open(path, { busyTimeoutMs: 1_000 })
  connection.exec('PRAGMA user_version = 7')
  connection.close()
  const refused = start('serve', '--config', file)
  expect(await refused.ended).toBe(1)
  expect(refused.stderr()).toMatch(
    /^chain 31337: the store evm-31337.sqlite was written by another build: its format is 7, .*format \d+\. Begin it anew with `chain-data reset 31337`/
  )
  expect(refused.stdout()).toBe('')
  const { code, stdout } = await ask(file)
  expect(code).toBe(1)
  expect(stdout).toMatch(/its format is 7/)
})
