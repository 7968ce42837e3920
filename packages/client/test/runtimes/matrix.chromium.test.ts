import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { doors } from '../matrix/doors.ts'
import { scenariosOf } from '../matrix/scenarios.ts'
import { type MatrixServer, startMatrixServer } from '../matrix/startMatrixServer.ts'
import { bundle, sourceConditions } from './bundle.ts'
import { findChromium, startChromium } from './chromium.ts'

const executable = findChromium()
if (executable === undefined) {
  process.stderr.write('the matrix in Chromium is skipped: no browser found; CHROMIUM_PATH may name one\n')
}

let server: MatrixServer
let pages: Server
let browser: Browser
let page: Page

describe.skipIf(executable === undefined)('in Chromium, from a page of another origin', () => {
  beforeAll(async () => {
    server = await startMatrixServer()
    // The page's origin differs from the service's by its port: every call needs CORS, and asks first.
    pages = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>matrix</title>')
    })
    await new Promise<void>(resolve => pages.listen(0, '127.0.0.1', resolve))
    browser = await startChromium(executable ?? '')
    page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)
    const { outputFiles } = await bundle({
      program: `export * from './matrixProgram.ts'`,
      format: 'iife',
      globalName: 'matrix',
      conditions: [...sourceConditions, 'browser']
    })
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
  })
  afterAll(async () => {
    await browser?.close()
    pages?.close()
    await server?.[Symbol.asyncDispose]()
  })

  describe.each(Object.entries(doors))('%s', (entry, door) => {
    test.concurrent.each(scenariosOf(door))('$title', async ({ title }) => {
      const call = [entry, title, server.url].map(argument => JSON.stringify(argument)).join(', ')
      expect(await page.evaluate(`matrix.runMatrix(${call})`)).toBe('')
    })
  })

  test('a server key is refused in a page', async () => {
    const options = `{ baseUrl: location.origin, projectId: 'p', serverKey: 'k' }`
    for (const entry of Object.keys(doors)) {
      const attempt = `(() => {
        try { matrix.doors['${entry}'].open(${options}) } catch (error) { return error.reason }
      })()`
      expect(await page.evaluate(attempt), entry).toBe('KEY_IN_BROWSER')
    }
  })
})
