import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startFaultProxy } from '../support/startFaultProxy.ts'
import { mainFile, type RunningCommand, runCommand } from './runCommand.ts'

let folder: string
const running: RunningCommand[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-shutdown-'))
})
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  await rm(folder, { recursive: true, force: true })
})

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s while the program is still being loaded ends it with exit code 0',
  async signal => {
    // A module that is loaded before all others tells when the first line of the command has run.
    const hook = join(folder, 'hook.mjs')
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module'
     registerHooks({
       load(url, context, next) {
         if (url.endsWith('/createProgram.ts')) {
           process.stdout.write('loading')
           Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
         }
         return next(url, context)
       }
     })`
    )
    const child = spawn(
      process.execPath,
      ['--conditions=@chain-data/source', '--import', pathToFileURL(hook).href, mainFile, 'serve'],
      {
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          TMPDIR: folder,
          CHAIN_DATA_PORT: '0',
          CHAIN_DATA_STORE: 'sqlite::memory:',
          CHAIN_DATA_PROJECT: 'demo:key',
          CHAIN_DATA_EVM_5: 'http://127.0.0.1:1'
        },
        stdio: ['ignore', 'pipe', 'inherit']
      }
    )
    const closed = once(child, 'close')
    await once(child.stdout, 'data')
    child.kill(signal)
    const [code, endedBy] = await closed
    expect([code, endedBy]).toEqual([0, null])
  }
)

it('a signal breaks off any other command as the system does', async () => {
  const config = join(folder, 'slow.mjs')
  await writeFile(
    config,
    "process.stdout.write('reading')\nawait new Promise(resolve => setTimeout(resolve, 60_000))"
  )
  const command = runCommand(['status', '--config', config])
  running.push(command)
  await eventually('it reads its configuration', () => command.stdout().includes('reading'))
  command.child.kill('SIGTERM')
  expect(await command.ended).toBe(null)
})

async function serve(config: object): Promise<{ command: RunningCommand; url: string }> {
  const file = join(folder, 'config.json')
  await writeFile(
    file,
    JSON.stringify({
      listen: { port: 0 },
      store: `sqlite:${join(folder, 'store')}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      ...config
    })
  )
  const command = runCommand(['serve', '--config', file], { TMPDIR: folder })
  running.push(command)
  const listening = () => command.logLines().find(({ msg }) => msg === 'listening')?.url
  return { command, url: String(await eventually('it listens', listening, 20_000)) }
}

it('SIGTERM: it drains for as long as it was told to, then ends with exit code 0, although its node hangs', async () => {
  const node = createServer(() => {})
  await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve))
  const rpcUrls = [`http://127.0.0.1:${(node.address() as AddressInfo).port}`]
  try {
    const asked = once(node, 'request')
    const { command, url } = await serve({
      listen: { port: 0, drainMs: 1_500 },
      chains: { evm: [{ chainId: 5, rpcUrls }] }
    })
    await asked
    command.child.kill('SIGTERM')
    await eventually('it is not ready', async () => {
      const report = (await (await fetch(`${url}/health/ready`)).json()) as { closing?: true }
      return report.closing
    })
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'svc_getSyncStatus',
      chainId: 5,
      params: []
    })
    const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
    const headers = { authorization, 'content-type': 'application/json' }
    const call = () => fetch(`${url}/evm-chain`, { method: 'POST', headers, body })
    const answer = await call()
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    expect(await command.ended).toBe(0)
    expect(command.logLines().map(({ msg }) => msg)).toContain('closed')
  } finally {
    node.closeAllConnections()
    node.close()
  }
})

it('SIGTERM in the middle of the first backfill ends it with exit code 0, and the next start goes on from there', async () => {
  const anvil = await startAnvil()
  try {
    await fetch(anvil.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: ['0x28'] })
    })
    // Each block takes a while, so that there is a middle.
    const proxy = await startFaultProxy(anvil.rpcUrl)
    proxy.setFault(async ({ method, params }, result) => {
      if (method === 'eth_getBlockByNumber' && params[1] === true) {
        await new Promise(resolve => setTimeout(resolve, 40 * (Number(params[0]) % 8)))
        if (Number(params[0]) > 6) await new Promise(() => {})
      }
      return result
    })
    const chains = { evm: [{ chainId: 31337, rpcUrls: [proxy.url], pollIntervalMs: 50 }] }
    const first = await serve({ chains })
    await eventually('some blocks are asked for', () => proxy.calls.length > 12)
    first.command.child.kill('SIGTERM')
    expect(await first.command.ended).toBe(0)
    await proxy.close()
    const second = await serve({ chains: { evm: [{ ...chains.evm[0], rpcUrls: [anvil.rpcUrl] }] } })
    await eventually('it is ready', async () => (await fetch(`${second.url}/health/ready`)).ok, 20_000)
    second.command.child.kill('SIGTERM')
    expect(await second.command.ended).toBe(0)
  } finally {
    await anvil.stop()
  }
})
