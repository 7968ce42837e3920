/**
 * Whether the built site (`npm run docs`) is whole: every link and anchor leads somewhere, every image is there, nothing
 * comes from elsewhere; and in Chromium, where there is one, pages are whole at 360 px and say nothing on the console.
 *
 *     node .ci/checkSite.ts [--pictures <folder>]
 *
 * `--pictures` keeps a picture of each page that Chromium opened. Exit code 1: something is wrong, each fault on a line.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, extname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Playwright from 'playwright-core'

const site = fileURLToPath(new URL('../docs/site/', import.meta.url))
const chromiumPath = '/usr/bin/chromium'
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

/** All files of the site, relative to its folder. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    statSync(join(folder, name)).isFile()
  )
}

/** What stands in an attribute, entities of HTML put back. */
function textOf(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** The values of some attributes of a page, in the tags whose name fits. */
function attributes(html: string, tags: string, names: string): string[] {
  const found = html.matchAll(new RegExp(`<(?:${tags})\\b[^>]*?\\s(?:${names})="([^"]*)"`, 'g'))
  return [...found].map(([, value = '']) => textOf(value))
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const pages = new Map<string, { html: string; anchors: Set<string> }>()

function pageAt(path: string): { html: string; anchors: Set<string> } {
  let page = pages.get(path)
  if (page === undefined) {
    const html = readFileSync(path, 'utf8')
    page = { html, anchors: new Set(attributes(html, '[a-z][a-z0-9]*', 'id')) }
    pages.set(path, page)
  }
  return page
}

/** What is wrong with a link or the address of a resource; `undefined` when it leads somewhere within the site. */
function faultOf(page: string, target: string): string | undefined {
  const [path = '', fragment = ''] = target.split('#')
  const goal = path === '' ? page : resolve(dirname(page), decodeURIComponent(path))
  const file = existsSync(goal) && statSync(goal).isDirectory() ? join(goal, 'index.html') : goal
  if (!`${file}${sep}`.startsWith(site)) return 'leads out of the site'
  if (!existsSync(file)) return 'leads to no file'
  if (fragment === '' || !file.endsWith('.html')) return undefined
  return pageAt(file).anchors.has(decodeURIComponent(fragment)) ? undefined : 'leads to no anchor'
}

const isElsewhere = (target: string) => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)

/** Faults of one page: its links, its resources, and two elements of one name. */
function faultsOfPage(name: string): string[] {
  const path = join(site, name)
  const { html, anchors } = pageAt(path)
  const links = attributes(html, 'a', 'href').filter(target => !isElsewhere(target))
  const resources = [
    ...attributes(html, 'img|script|source|iframe|video|audio|use', 'src|href'),
    ...attributes(html, 'link', 'href')
  ]
  const faults = [...links, ...resources.filter(target => !isElsewhere(target))].flatMap(target => {
    const fault = faultOf(path, target)
    return fault === undefined ? [] : [`${target} ${fault}`]
  })
  for (const target of resources) {
    if (isElsewhere(target) && !target.startsWith('data:')) faults.push(`${target} comes from elsewhere`)
  }
  const ids = attributes(html, '[a-z][a-z0-9]*', 'id')
  if (ids.length > anchors.size) {
    const twice = ids.find((id, index) => ids.indexOf(id) < index)
    faults.push(`the id ${twice} is there twice`)
  }
  for (const image of html.matchAll(/<img\b[^>]*>/g)) {
    if (!/\balt="[^"]+"/.test(image[0])) faults.push(`${image[0]} says nothing to who cannot see it`)
  }
  return faults.map(fault => `${name}: ${fault}`)
}

/** Style sheets may name resources too. */
function faultsOfStyle(name: string): string[] {
  const css = readFileSync(join(site, name), 'utf8')
  const named = [...css.matchAll(/url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)/g)]
  return named
    .map(([, url, imported]) => url ?? imported ?? '')
    .filter(target => isElsewhere(target) && !target.startsWith('data:'))
    .map(target => `${name}: ${target} comes from elsewhere`)
}

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
  browser: Playwright.Browser,
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

async function openPages(pictures: string | undefined): Promise<string[]> {
  // Playwright belongs to the example that is tested in a browser.
  const require = createRequire(new URL('../examples/portfolio/package.json', import.meta.url))
  const { chromium } = require('playwright-core') as typeof Playwright
  const { server, base } = await serve()
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
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
const files = filesOf(site)
const html = files.filter(name => name.endsWith('.html'))
const faults = [
  ...html.flatMap(faultsOfPage),
  ...files.filter(name => name.endsWith('.css')).flatMap(faultsOfStyle)
]
if (existsSync(chromiumPath)) faults.push(...(await openPages(pictures)))
else say(`Skipped: pages are not opened, because there is no ${chromiumPath}.`)
for (const fault of new Set(faults)) say(fault)
const links = html.reduce(
  (sum, name) => sum + attributes(pageAt(join(site, name)).html, 'a', 'href').length,
  0
)
say(`${html.length} pages, ${links} links, ${new Set(faults).size} faults.`)
process.exitCode = faults.length > 0 ? 1 : 0
