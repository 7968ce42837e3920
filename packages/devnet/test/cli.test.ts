import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, type TestContext, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { seedEvmWorld, startAnvil, surfpoolUnsupportedReason } from '../src/index.ts'

const run = promisify(execFile)
const main = new URL('../src/cli/main.ts', import.meta.url).pathname
const solana = surfpoolUnsupportedReason() === undefined
const hasCurl = spawnSync('curl', ['--version']).error === undefined

/** A folder of one test, which is gone after it: tests run beside each other. */
async function newFolder({ onTestFinished }: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-cli-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the command in a folder, which is also its place for temporary files. */
function start(
  { onTestFinished }: TestContext,
  folder: string,
  args: string[],
  env: Record<string, string> = {}
) {
  const child = spawn(process.execPath, ['--conditions=@chain-data/source', main, ...args], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const seen = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    seen.out += String(chunk)
  })
  child.stderr.on('data', chunk => {
    seen.err += String(chunk)
  })
  const ended = once(child, 'close').then(([code]) => code as number)
  return { child, seen, ended }
}

const methods = [
  'svc_getTransactionsByAddress',
  'svc_getTokensAndNFTs',
  ...(solana ? ['enhancedGetTokensAndNFTs'] : [])
]

/** The lines a reader would paste. */
function curlLines(text: string): string[] {
  return text.split('\n').filter(line => line.startsWith('curl '))
}

test.concurrent('--once shows the answer of every method with its curl line, ends with 0 and leaves nothing behind', async context => {
  const folder = await newFolder(context)
  const { seen, ended } = start(context, folder, ['--once', '--port', '0', '--evm-port', '0'])
  expect(await ended, seen.err).toBe(0)
  expect(seen.err).toBe('')
  for (const method of methods) {
    expect(seen.out).toContain(`\n${method}: `)
    expect(curlLines(seen.out).some(line => line.includes(`"method":"${method}"`))).toBe(true)
  }
  expect(seen.out).toMatch(/Indexing: (\d+) of \1 blocks/)
  expect(seen.out).toContain('Devnet Gold')
  expect(seen.out).toContain('Sunrise #1')
  expect(seen.out).toContain('queued')
  if (solana) expect(seen.out).toContain('18446744073.709551615')
  else expect(seen.out).toContain('No Solana')
  expect(await readdir(folder)).toEqual([])
})

test.concurrent('otherwise it stays up: the printed curl lines work, and Ctrl-C ends it with 0 and nothing left behind', async context => {
  const folder = await newFolder(context)
  if (!hasCurl) context.skip('there is no curl on this machine')
  const { child, seen, ended } = start(context, folder, ['--port', '0', '--evm-port', '0', '--seed', '2'])
  const deadline = Date.now() + patient(50_000)
  while (!seen.out.includes('Everything is up') && child.exitCode === null && Date.now() < deadline) {
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  expect(seen.out, seen.err).toContain('Everything is up')
  const [, statusPage = ''] = /^Status page +(\S+)/m.exec(seen.out) ?? []
  expect(await (await fetch(statusPage)).text()).toContain('In sync')
  const [, key = '', project = '', origin = ''] =
    /^Client key +(\S+) \(project (\S+)\), for pages at (\S+)/m.exec(seen.out) ?? []
  const fromPage = await fetch(new URL('/evm-chain', statusPage), {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${project}:${key}`)}`,
      'content-type': 'application/json',
      origin
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: 31337, method: 'svc_getSyncStatus', params: [] })
  })
  expect(await fromPage.json()).toMatchObject({ result: { ready: true } })
  const lines = curlLines(seen.out)
  expect(lines.length).toBe(methods.length)
  for (const line of lines) {
    const answer = JSON.parse((await run('sh', ['-c', line])).stdout) as Record<string, unknown>
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 1 })
    expect(answer).toHaveProperty('result')
  }
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  expect(seen.err).toBe('')
  expect(await readdir(folder)).toEqual([])
})

test.concurrent('with CHAIN_DATA_EVM_<id> it serves that chain and keeps the index for the next run', async context => {
  const folder = await newFolder(context)
  const node = await startAnvil({ chainId: 4711 })
  try {
    const { world } = await seedEvmWorld(node.rpcUrl)
    const address = world.accounts.bob?.address ?? ''
    for (const run of [1, 2]) {
      const { seen, ended } = start(context, folder, ['--once', '--port', '0', '--address', address], {
        CHAIN_DATA_EVM_4711: node.rpcUrl
      })
      expect(await ended, `run ${run}: ${seen.err}`).toBe(0)
      expect(seen.out).toContain(`${address}, on chain 4711`)
      expect(seen.out).toContain('Devnet Dollar')
      expect(seen.out).not.toContain('Solana')
      expect(await readdir(folder)).toContain('chain-data')
    }
  } finally {
    await node.stop()
  }
})

test.concurrent('a node that does not answer ends it with 1 and says so', async context => {
  const folder = await newFolder(context)
  const { seen, ended } = start(context, folder, ['--once', '--port', '0'], {
    CHAIN_DATA_EVM_5: 'http://127.0.0.1:9'
  })
  expect(await ended).toBe(1)
  expect(seen.err).toContain('Failed: ')
})

test.concurrent('a port that is taken ends it with 1 before anything is started', async context => {
  const folder = await newFolder(context)
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  try {
    const { port } = other.address() as { port: number }
    const { seen, ended } = start(context, folder, ['--once', '--port', String(port)])
    expect(await ended).toBe(1)
    expect(seen.err).toContain(`Failed: port ${port} cannot be used`)
    expect(seen.out).toBe('')
  } finally {
    other.close()
  }
})

test.concurrent('a bad option ends it with 2', async context => {
  const folder = await newFolder(context)
  const { seen, ended } = start(context, folder, ['--seed', 'many'])
  expect(await ended).toBe(2)
  expect(seen.err).toContain('whole number')
})
