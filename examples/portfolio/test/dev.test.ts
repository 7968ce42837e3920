import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'

const root = join(import.meta.dirname, '..')
let running: ChildProcess | undefined

afterEach(() => {
  running?.kill('SIGKILL')
})

/** As `npm run dev` does. */
function dev(...args: string[]) {
  const child = spawn(process.execPath, ['--conditions=@chain-data/source', 'dev.ts', ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  running = child
  let output = ''
  const read = (text: string) => {
    output += text
  }
  child.stdout.setEncoding('utf8').on('data', read)
  child.stderr.setEncoding('utf8').on('data', read)
  // Not `exit`, which may come before the last words.
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, ended, output: () => output }
}

test('one command starts everything, the page may call the service, and Ctrl-C ends all of it', async () => {
  const { child, ended, output } = dev('--port', '0')
  const ready = expect
    .poll(output, { timeout: patient(120_000), interval: 100 })
    .toContain('Ctrl-C stops everything.')
  await Promise.race([
    ready,
    ended.then(code => Promise.reject(new Error(`ended with ${code}: ${output()}`)))
  ])
  const pageUrl = /The page +(http:\S+)/.exec(output())?.[1] ?? ''
  const serviceUrl = /Service +(http:\S+)/.exec(output())?.[1] ?? ''
  expect(output()).toContain(`${pageUrl}#/31337/0x`)

  const page = await fetch(pageUrl)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toContain(`connect-src ${serviceUrl}`)
  const settings = await (await fetch(`${pageUrl}src/config.ts`)).text()
  const key = /"VITE_CHAIN_DATA_CLIENT_KEY": ?"([^"]+)"/.exec(settings)?.[1]
  const call = (origin: string) =>
    fetch(`${serviceUrl}/evm-chain`, {
      method: 'POST',
      headers: {
        ...{ origin, 'content-type': 'application/json' },
        authorization: `Basic ${btoa(`demo:${key}`)}`
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, chainId: 31337, method: 'svc_getTokensAndNFTs' },
        params: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8']
      })
    })
  const answer = await call(new URL(pageUrl).origin)
  expect(await answer.json()).toMatchObject({ result: { native: expect.stringMatching(/^\d+$/) } })
  expect((await call('https://elsewhere.example')).status).toBe(403)

  child.kill('SIGINT')
  expect(await ended).toBe(0)
  await expect(fetch(pageUrl)).rejects.toThrow()
  await expect(fetch(`${serviceUrl}/health/live`)).rejects.toThrow()
})

test('--help tells the options, and others are refused', async () => {
  const help = dev('--help')
  expect(await help.ended).toBe(0)
  expect(help.output()).toContain('--no-traffic')
  const wrong = dev('--ports', '1')
  expect(await wrong.ended).toBe(2)
  expect(wrong.output()).toContain('--ports')
})
