import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRoute } from '@chain-data/client/route'
import { eventually } from '@chain-data/index/test'
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toNodeListener } from '../../../../examples/proxy/toNodeListener.ts'
import { bundle } from '../../../client/test/runtimes/bundle.ts'
import { findChromium, startChromium } from '../../../client/test/runtimes/chromium.ts'
import { hasCurl } from '../support/hasCurl.ts'
import { openStream, readHistory } from './askService.ts'
import { credentials, type LiveService, liveALife, startLiveService } from './startLiveService.ts'

/** What a reader has read: `id` and `data` of each event, without those that say that there is none. */
type Read = string[]

interface Reader {
  readonly read: Read
  stop(): unknown
}

const chromium = findChromium()

let service: LiveService
let cursor: string
let wanted: Read
const cleanUps: (() => unknown)[] = []
beforeAll(async () => {
  service = await startLiveService()
  cleanUps.push(() => service.close())
  cursor = (await readHistory(service, alice())).cursor
  await liveALife(service, 'alice', 'bob')
  const { records } = await readHistory(service, alice())
  wanted = []
  for await (const { id, data } of await openStream(service, [alice()], { after: cursor })) {
    take(wanted, id, data)
    if (data.includes(`{"hash":"${records[0]?.hash}"`) && data.includes('"status":3')) break
  }
})
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const alice = () => service.addressOf('alice')

function take(read: Read, id: string | undefined, data: string): void {
  if (!data.startsWith('{"kind":"synced"')) read.push(`${id} ${data}`)
}

function requestBody(): string {
  const params = [[alice()], { after: cursor }]
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    chainId: service.chainId,
    method: 'svc_watchAddresses',
    params
  })
}

/** Each must have read the same, in the same bytes. */
async function expectAll(reader: Reader): Promise<void> {
  try {
    await eventually('all events', () => reader.read.length >= wanted.length)
    expect(reader.read).toEqual(wanted)
  } finally {
    await reader.stop()
  }
}

/** Reads with the parser of others over plain `fetch`. */
function readWithParser(url: string, headers: Readonly<Record<string, string>>): Reader {
  const connection = new AbortController()
  const read: Read = []
  const parser = createParser({ onEvent: ({ id, data }) => take(read, id, data) })
  const run = async () => {
    const { body } = await fetch(url, {
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
      body: requestBody(),
      signal: connection.signal
    })
    for await (const text of body!.pipeThrough(new TextDecoderStream())) parser.feed(text)
  }
  run().catch(() => {})
  return { read, stop: () => connection.abort() }
}

async function listen(handle: RequestListener): Promise<string> {
  const server = createHttpServer(handle)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanUps.push(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A host with a page of its own and the service below `/api`. */
function startHost(): Promise<string> {
  const route = createRoute({ ...credentials, baseUrl: service.url, allow: ['svc_watchAddresses'] })
  const headers = { 'content-type': 'text/html' }
  return listen(
    toNodeListener(async request => {
      if (new URL(request.url).pathname.startsWith('/api/')) return route(request)
      return new Response('<!doctype html><title>page</title>', { headers })
    })
  )
}

it('tells the life of a transaction', () => {
  const told = wanted.map(line => JSON.parse(line.slice(line.indexOf(' ') + 1)))
  expect(told.map(({ kind, reason, record }) => `${kind} ${reason ?? record.status}`)).toEqual([
    ...['added 1', 'added 1', 'removed replaced'],
    ...['confirmed 3', 'confirmed 3'],
    ...['removed reorged', 'added 3']
  ])
})

it.skipIf(!hasCurl)('is read by curl', async () => {
  const url = `${service.url}/evm-chain`
  const args = [
    '-sN',
    '-u',
    `${credentials.projectId}:${credentials.serverKey}`,
    '-H',
    'accept: text/event-stream'
  ]
  const child = spawn('curl', [...args, '-H', 'content-type: application/json', '-d', requestBody(), url])
  cleanUps.push(() => child.kill())
  const read: Read = []
  let text = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    text += chunk
    read.length = 0
    for (const [, id, data] of text.matchAll(/^id: (.*)\ndata: (.*)\n$/gm)) take(read, id, data ?? '')
  })
  await expectAll({ read, stop: () => child.kill() })
})

it('is read by eventsource-parser over fetch, in Node', async () => {
  await expectAll(readWithParser(`${service.url}/evm-chain`, service.headers))
})

it('is read through the route of a host', async () => {
  const host = await startHost()
  await expectAll(readWithParser(`${host}/api/evm-chain`, { 'sec-fetch-site': 'same-origin' }))
})

if (chromium === undefined)
  process.stderr.write('events are not read in a page: no Chromium; CHROMIUM_PATH may name one\n')

it.skipIf(chromium === undefined)('is read by eventsource-parser in a page in Chromium', async () => {
  const host = await startHost()
  const browser = await startChromium(chromium ?? '')
  try {
    const page = await browser.newPage()
    await page.goto(host)
    const { outputFiles } = await bundle({
      program: `
        import { createParser } from 'eventsource-parser'
        export const read = []
        export async function run(body) {
          const parser = createParser({ onEvent: event => read.push([event.id, event.data]) })
          const headers = { accept: 'text/event-stream', 'content-type': 'application/json' }
          const answer = await fetch('/api/evm-chain', { method: 'POST', headers, body })
          const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
          for (;;) {
            const { value, done } = await reader.read()
            if (done) return
            parser.feed(value)
          }
        }`,
      format: 'iife',
      globalName: 'events',
      conditions: ['browser']
    })
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    await page.evaluate(`void events.run(${JSON.stringify(requestBody())})`)
    const isAllThere = `events.read.filter(([, data]) => !data.includes('"synced"')).length >= ${wanted.length}`
    await page.waitForFunction(isAllThere)
    const read: Read = []
    for (const [id, data] of (await page.evaluate('events.read')) as [string, string][]) take(read, id, data)
    expect(read).toEqual(wanted)
  } finally {
    await browser.close()
  }
})
