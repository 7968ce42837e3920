import { fileURLToPath } from 'node:url'
import { createClient } from '@chain-data/client'
import { createServer, type Server } from '@chain-data/server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bundle, sourceConditions } from '../../packages/client/test/runtimes/bundle.ts'
import { findChromium, startChromium } from '../../packages/client/test/runtimes/chromium.ts'
import { type RunningExample, startExample } from '../startExample.ts'

const chainId = 31337
const chromium = findChromium()

let service: Server
let host: RunningExample
beforeAll(async () => {
  service = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [{ projectId: 'demo', serverKey: 'secret-of-the-host' }],
    // Nothing listens there: how far the index is can be asked all the same.
    chains: { evm: [{ chainId, rpcUrls: ['http://127.0.0.1:1'] }] },
    log: { level: 'silent' }
  })
  host = await startExample(['main.ts'], fileURLToPath(new URL('./', import.meta.url)), {
    CHAIN_DATA_TARGET: await service.listen(),
    CHAIN_DATA_SERVER_KEY: 'secret-of-the-host'
  })
})
afterAll(async () => {
  host?.child.kill('SIGKILL')
  await service?.close()
})

/** What a browser says of a page's own requests, and a program does not. */
const ownPage = () => ({ 'Sec-Fetch-Site': 'same-origin' })

it('answers the client without a key', async () => {
  const client = createClient({ baseUrl: `${host.url}/api/chain-data`, auth: ownPage, chainId })
  expect(await client.getSyncStatus({})).toMatchObject({ chainId })
})

it('answers no page of another site, and nothing but the methods', async () => {
  const ask = (auth: false | typeof ownPage) =>
    createClient({ baseUrl: `${host.url}/api/chain-data`, auth, chainId, retries: 0 })
  await expect(ask(false).getSyncStatus({})).rejects.toMatchObject({ reason: 'FORBIDDEN_ORIGIN' })
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...ownPage() } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] })
  const response = await fetch(`${host.url}/api/chain-data/evm-chain`, { ...init, body })
  expect(await response.json()).toMatchObject({ error: { data: { reason: 'METHOD_NOT_FOUND' } } })
})

if (chromium === undefined) process.stderr.write('no Chromium here: the page is not opened in one\n')

it.skipIf(chromium === undefined)('a page in Chromium asks by itself and through the client', async () => {
  const browser = await startChromium(chromium ?? '')
  try {
    const page = await browser.newPage()
    const sent: Record<string, string>[] = []
    page.on('request', request => {
      if (request.method() === 'POST') sent.push(request.headers())
    })
    await page.goto(host.url)
    // No block is indexed, since the chain has no node.
    await page.waitForFunction('document.querySelector("output").textContent === "none yet"')
    const { outputFiles } = await bundle({
      program: `export { createClient } from '@chain-data/client/fetch'`,
      format: 'iife',
      globalName: 'chainDataClient',
      conditions: ['browser', ...sourceConditions]
    })
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    const answer = await page.evaluate(
      `chainDataClient.createClient({ baseUrl: '/api/chain-data', auth: false, chainId: ${chainId} }).getSyncStatus({})`
    )
    expect(answer).toMatchObject({ chainId })
    expect(sent).toHaveLength(2)
    expect(JSON.stringify(sent)).not.toMatch(/authorization|secret-of-the-host/i)
    // From a page of another origin the browser says so, and nothing is answered.
    await page.goto('data:text/html,elsewhere')
    const status = `fetch('${host.url}/api/chain-data/evm-chain', { method: 'POST', body: '{}' }).then(r => r.status, () => 'blocked')`
    expect(await page.evaluate(status)).toBe('blocked')
  } finally {
    await browser.close()
  }
})

it('told to end, ends with code 0', async () => {
  expect(await host.stop()).toBe(0)
})
