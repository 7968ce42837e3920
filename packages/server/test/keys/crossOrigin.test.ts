import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium, startChromium } from '../../../client/test/runtimes/chromium.ts'
import type { Listener } from '../../src/server/http/listen.ts'
import { request, startService, statusHandlers } from '../http/startService.ts'

const executable = findChromium()
if (executable === undefined) {
  process.stderr.write('keys in Chromium are skipped: no browser found; CHROMIUM_PATH may name one\n')
}

const body = request('svc_getSyncStatus', [])

/** What a page can read of an answer. Runs in the page. */
async function callFromPage({ url, key, text }: Record<'url' | 'key' | 'text', string>): Promise<unknown> {
  const headers = { authorization: `Basic ${btoa(`demo:${key}`)}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: text })
  const { error } = (await response.json()) as { error?: { data: { reason: string } } }
  return [response.status, error?.data.reason ?? 'answered', response.headers.get('x-request-id') !== null]
}

describe.skipIf(executable === undefined)('a web page in Chromium', () => {
  const pages: Server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>page</title>')
  })
  let listener: Listener
  let browser: Browser
  let page: Page
  let port: number
  beforeAll(async () => {
    await once(pages.listen(0, '127.0.0.1'), 'listening')
    port = (pages.address() as AddressInfo).port
    const clientKeys = [{ key: 'page-key', origins: [`http://127.0.0.1:${port}`] }]
    listener = await startService({
      handlers: statusHandlers,
      projects: [{ projectId: 'demo', clientKeys }]
    }).listen()
    browser = await startChromium(executable ?? '')
    page = await browser.newPage()
  })
  afterAll(async () => {
    await browser?.close()
    await listener?.close(0)
    pages.close()
  })

  it.each([
    ['may call from an origin of its key', '127.0.0.1', 'page-key', [200, 'answered', true]],
    ['reads why its origin is refused', 'localhost', 'page-key', [403, 'FORBIDDEN_ORIGIN', true]],
    ['reads that its key is wrong', '127.0.0.1', 'wrong', [401, 'UNAUTHENTICATED', true]]
  ])('%s', async (_what, host, key, expected) => {
    await page.goto(`http://${host}:${port}/`)
    const seen = await page.evaluate(callFromPage, { url: `${listener.url}/evm-chain`, key, text: body })
    expect(seen).toEqual(expected)
  })
})
