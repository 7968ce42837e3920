import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { surfpoolUnsupportedReason } from '../../src/index.ts'
import { successResult } from './support/callService.ts'
import { eventually } from './support/startRoad.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const run = promisify(execFile)
const hasCurl = spawnSync('curl', ['--version']).error === undefined

const methods = [
  'svc_getTransactionsByAddress',
  'svc_getTokensAndNFTs',
  ...(surfpoolUnsupportedReason() === undefined ? (['enhancedGetTokensAndNFTs'] as const) : [])
] as const

/** `npm start` from the root of the project, as the README has it. */
function npmStart(args: readonly string[]) {
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  const child = spawn('npm', ['start', '--', ...args], {
    ...{ cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] }
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    output.out += String(chunk)
  })
  child.stderr.on('data', chunk => {
    output.err += String(chunk)
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, output, ended }
}

const curlLines = (text: string) => text.split('\n').filter(line => line.startsWith('curl '))

// Beside each other: each has nodes and a folder of its own.
test.concurrent('npm start -- --once shows the answers of all methods with a curl line each and exits with 0', async () => {
  const { output, ended } = npmStart(['--once', '--port', '0', '--evm-port', '0', '--seed', '41'])
  expect(await ended, output.err).toBe(0)
  for (const method of methods) {
    expect(output.out).toContain(`\n${method}: `)
    expect(curlLines(output.out).filter(line => line.includes(`"method":"${method}"`))).toHaveLength(1)
  }
})

test.concurrent('npm start stays up, each of its curl lines gives a valid answer when pasted, and Ctrl-C ends it', async context => {
  if (!hasCurl) context.skip('there is no curl on this machine')
  const { child, output, ended } = npmStart(['--port', '0', '--seed', '42'])
  try {
    await eventually(
      () => ((output.out + output.err).includes('Everything is up') ? true : undefined),
      () => `everything to be up: ${output.out}${output.err}`,
      45_000
    )
    const lines = curlLines(output.out)
    expect(lines).toHaveLength(methods.length)
    for (const [index, method] of methods.entries()) {
      const { stdout } = await run('sh', ['-c', lines[index]!])
      const endpoint = method === 'enhancedGetTokensAndNFTs' ? '/solana' : '/evm-chain'
      successResult(JSON.parse(stdout), { endpoint, method, id: 1 })
    }
  } finally {
    // As a terminal does: to npm and to what it runs.
    process.kill(-child.pid!, 'SIGINT')
  }
  await ended
  expect(output.err).not.toContain('Failed')
})
