/**
 * Times what a new user does, with the Node of the PATH, and prints each step:
 *
 * - a clone of this repository, `npm ci`, and `npm start -- --once` until the first answer is on the screen;
 * - `chain-data init` over a node with 5,000 blocks, `serve`, and the printed call until it is answered.
 *
 *     node .ci/timeNewUser.ts
 *
 * What is not committed is not part of the clone. Needs the registry, or npm's cache.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'chain-data-new-user-'))
const home = join(work, 'chain-data')

/** Without what npm of this repository put before the user's own programs. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|CHAIN_DATA_)/.test(name))
)
env.PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(part => !part.includes('node_modules'))
  .join(delimiter)

interface Running {
  /** Resolves with everything that was printed, once it matches. */
  readonly printed: (pattern: RegExp) => Promise<string>
  readonly end: () => Promise<void>
}

function start(command: string, args: readonly string[]): Running {
  const child = spawn(command, args, { cwd: home, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return {
    printed: async pattern => {
      while (!pattern.test(text)) {
        if (child.exitCode !== null)
          throw new Error(`${command} ${args.join(' ')} ended with ${child.exitCode}:\n${text}`)
        await new Promise(resolve => setTimeout(resolve, 20))
      }
      return text
    },
    end: async () => {
      // npm hands no signal on, so the whole group gets it.
      if (child.exitCode === null) process.kill(-(child.pid ?? Number.NaN), 'SIGTERM')
      await ended
    }
  }
}

/** Not synchronous: a node whose output nobody reads stops. */
const run = async (command: string, ...args: string[]) =>
  (await promisify(execFile)(command, args, { cwd: home, env, maxBuffer: 2 ** 26 })).stdout

let total = 0

async function time<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const before = performance.now()
  const result = await work()
  const seconds = (performance.now() - before) / 1000
  total += seconds
  process.stdout.write(`${name.padEnd(44)}${seconds.toFixed(1).padStart(8)} s\n`)
  return result
}

function sum(name: string): void {
  process.stdout.write(`${name.padEnd(44)}${total.toFixed(1).padStart(8)} s\n\n`)
  total = 0
}

/** Starts an anvil of the clone with 5,000 blocks, of which the newest has a transaction. */
async function startNode(): Promise<{ readonly node: Running; readonly url: string }> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const program = join(home, `node_modules/@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`)
  const node = start(program, ['--port', '0'])
  const [, address = ''] = /Listening on (\S+)/.exec(await node.printed(/Listening on \S+/)) ?? []
  const url = `http://${address}`
  const [from, to] = [
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  ]
  const calls = [
    ['anvil_mine', ['0x1387']],
    ['eth_sendTransaction', [{ from, to, value: '0x1' }]]
  ]
  for (const [method, params] of calls) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body
    })
    const { error } = (await response.json()) as { error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  }
  return { node, url }
}

try {
  process.stdout.write(`Node ${execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()}\n\n`)
  await time('git clone', () => execFileSync('git', ['clone', '--quiet', root, home], { env, stdio: 'pipe' }))
  await time('npm ci', () => run('npm', 'ci'))
  await time('npm start -- --once, to the first answer', async () => {
    const devnet = start('npm', ['start', '--', '--once'])
    await devnet.printed(/^curl -s /m)
    await devnet.end()
  })
  sum('From nothing to the first answer')

  const { node, url } = await startNode()
  const call = await time('chain-data init', async () => {
    const printed = await run('npm', 'run', '--silent', 'chain-data', '--', 'init', url, '--yes')
    const [line] = /^curl -s .+$/m.exec(printed) ?? []
    if (line === undefined) throw new Error(`init printed no call:\n${printed}`)
    return line
  })
  const server = start('npm', ['run', '--silent', 'chain-data', '--', 'serve', '--config', 'chain-data.json'])
  await time('chain-data serve, to the answer of that call', async () => {
    for (;;) {
      const answer = await run('bash', '-c', `${call} || true`)
      if (answer.includes('"result"')) break
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  })
  sum('From the URL of a node to the first answer')
  await server.end()
  await node.end()
} finally {
  rmSync(work, { recursive: true, force: true })
}
