/**
 * Whether the built site (`npm run docs`) is whole: every link and anchor leads somewhere, every image is there, nothing
 * comes from elsewhere; and in Chromium, where there is one, pages are whole at 360 px and say nothing on the console.
 *
 *     node .ci/checkSite.ts [--pictures <folder>]
 *
 * `--pictures` keeps a picture of each page that Chromium opened. Exit code 1: something is wrong, each fault on a line.
 */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { findChromium, startChromium } from '../packages/client/test/runtimes/chromium.ts'
import { inspectSite } from './inspectSite.ts'

const site = fileURLToPath(new URL('../docs/site/', import.meta.url))
const narrow = { width: 360, height: 800 }
const wide = { width: 1280, height: 900 }
/** One page of each kind. */
const openedPages = [
  'index.html',
  'documents/getting-started.html',
  'documents/errors.html',
  'documents/lifecycle.html',
  'documents/configuration.html',
  'documents/methods/svc_getTransactionsByAddress.html',
  'functions/_chain-data_client.createClient.html',
  'modules/_chain-data_server.html'
]
const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json'
}

const say = (line: string) => process.stdout.write(`${line}\n`)

/** The site over HTTP on a free port of the loopback. */
async function serve() {
  const server = createServer((request, response) => {
    const path = join(site, decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname))
    if (!path.startsWith(site) || !existsSync(path) || !statSync(path).isFile()) {
      response.writeHead(404).end()
      return
    }
    response.setHeader('content-type', mediaTypes[extname(path)] ?? 'application/octet-stream')
    response.end(readFileSync(path))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return { server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** Opens a page, small and light, then large and dark, and says what is wrong there. */
async function openPage(
  browser: Browser,
  base: string,
  name: string,
  pictures: string | undefined
): Promise<string[]> {
  const faults: string[] = []
  for (const [viewport, colorScheme] of [
    [narrow, 'light'],
    [wide, 'dark']
  ] as const) {
    const page = await browser.newPage({ viewport, colorScheme })
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) faults.push(`on the console: ${message.text()}`)
    })
    page.on('pageerror', error => faults.push(`throws: ${error.message}`))
    page.on('request', request => {
      const url = request.url()
      if (!url.startsWith(base) && !url.startsWith('data:')) faults.push(`asks for ${url}`)
    })
    page.on('response', response => {
      if (response.status() >= 400) faults.push(`${response.url().slice(base.length)} is not there`)
    })
    await page.goto(base + name, { waitUntil: 'load' })
    await page.locator('#tsd-nav-container a').first().waitFor({ state: 'attached' })
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > viewport.width) faults.push(`is ${width} px wide in a window of ${viewport.width} px`)
    if (pictures !== undefined) {
      await page.screenshot({
        path: join(pictures, `${name.replaceAll('/', '-')}-${viewport.width}-${colorScheme}.png`)
      })
    }
    await page.close()
  }
  return faults.map(fault => `${name}: ${fault}`)
}

async function openPages(executablePath: string, pictures: string | undefined): Promise<string[]> {
  const { server, base } = await serve()
  const browser = await startChromium(executablePath)
  try {
    const faults: string[] = []
    for (const name of openedPages) faults.push(...(await openPage(browser, base, name, pictures)))
    return faults
  } finally {
    await browser.close()
    server.close()
  }
}

const [flag, pictures] = process.argv.slice(2)
if (flag !== undefined && (flag !== '--pictures' || pictures === undefined)) {
  say('Usage: node .ci/checkSite.ts [--pictures <folder>]')
  process.exit(2)
}
if (!existsSync(join(site, 'index.html'))) {
  say(`There is no site in ${relative(process.cwd(), site)}: npm run docs`)
  process.exit(1)
}
if (pictures !== undefined) mkdirSync(pictures, { recursive: true })
const { pages, links, faults: inFiles } = inspectSite(site)
const faults = [...inFiles]
const chromiumPath = findChromium()
if (chromiumPath !== undefined) faults.push(...(await openPages(chromiumPath, pictures)))
else say('Skipped: pages are not opened, because there is no Chromium here; CHROMIUM_PATH may name one.')
for (const fault of new Set(faults)) say(fault)
say(`${pages} pages, ${links} links, ${new Set(faults).size} faults.`)
process.exitCode = faults.length > 0 ? 1 : 0
