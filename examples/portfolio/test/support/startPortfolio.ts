import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EvmDevnet } from '@chain-data/devnet'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { patient } from '../../../../.config/patience.ts'
import { findChromium, startChromium } from '../../../../packages/client/test/runtimes/chromium.ts'
import { type Passage, startPassage } from '../../../../packages/client/test/support/startPassage.ts'
import { type Stack, startStack } from '../../stack/startStack.ts'
import { buildPage } from './buildPage.ts'
import { servePage } from './servePage.ts'

/** A chain that the page offers and the service does not serve. */
export const unservedChainId = 1

/** Everything that the browser tests share: it is started once. */
export interface Portfolio {
  /** Its `serviceUrl` is the one of `passage`, as for the page. */
  readonly stack: Stack
  /** Between the page and the service. */
  readonly passage: Passage
  /** Of the service itself. */
  readonly serviceUrl: string
  /** Moves the chain on: `evm.driver.send`, `mine`, `reorg`. Its `world` is the truth. */
  readonly evm: EvmDevnet
  /** With a slash at its end. */
  readonly pageUrl: string
  /** The folder of the built page. */
  readonly folder: string
  /** Opens the page in a fresh browser profile. */
  open(options?: OpenOptions): Promise<OpenedPage>
  stop(): Promise<void>
}

/** How a page is opened. */
interface OpenOptions {
  /** Behind the page's URL, such as `#/31337/0x…`. */
  hash?: string
  /** Default 1280. */
  width?: number
  /** Default 900. */
  height?: number
  /** Default light. */
  scheme?: 'light' | 'dark'
  /** Default no preference. */
  reducedMotion?: 'reduce' | 'no-preference'
  /** Called before the page is loaded: for routes that break something. */
  prepare?: (page: Page) => Promise<unknown>
}

/** A page, and what went wrong in it. */
interface OpenedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors and warnings of the console, violations of the policy, and what was thrown. */
  readonly problems: string[]
  /** URLs of all requests. */
  readonly requests: string[]
  close(): Promise<void>
}

/** Starts nodes, service, built page and Chromium. @throws When there is no Chromium, or something does not start. */
export async function startPortfolio(): Promise<Portfolio> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('there is no Chromium on this machine')
  const ends: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'portfolio-page-'))
    ends.push(() => rm(folder, { recursive: true, force: true }))
    // First, so that nobody else gets its port before the page is built.
    const host = await servePage(folder)
    ends.push(() => host.stop())
    const pageUrl = host.url
    const started = await startStack({ port: 0, pageOrigins: [new URL(pageUrl).origin] })
    ends.push(() => started.stop())
    const passage = await startPassage(started.serviceUrl)
    ends.push(() => passage.stop())
    const stack = { ...started, serviceUrl: passage.url }
    const { evm } = stack.devnet
    if (evm === undefined) throw new Error('the devnet came without its EVM node')
    await buildPage(pageEnvironment(stack), folder)
    const browser = await startChromium(executablePath)
    ends.push(() => browser.close())
    return {
      stack,
      passage,
      serviceUrl: started.serviceUrl,
      evm,
      pageUrl,
      folder,
      open: options => openPage(browser, pageUrl, options),
      stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** As while developing, with one more chain and a quicker pace. */
function pageEnvironment({ environment, serviceUrl }: Stack): Record<string, string> {
  const chains = JSON.parse(environment.VITE_CHAIN_DATA_CHAINS ?? '[]') as unknown[]
  const unserved = { id: unservedChainId, family: 'evm', name: 'Ethereum', symbol: 'ETH', decimals: 18 }
  return {
    ...environment,
    VITE_CHAIN_DATA_URL: serviceUrl,
    VITE_CHAIN_DATA_CHAINS: JSON.stringify([...chains, unserved]),
    VITE_CHAIN_DATA_POLL_MS: '500'
  }
}

async function openPage(browser: Browser, pageUrl: string, options: OpenOptions = {}): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.scheme ?? 'light',
    reducedMotion: options.reducedMotion ?? 'no-preference',
    // What is written depends on neither the machine's language nor its clock.
    locale: 'en-US',
    timezoneId: 'UTC'
  })
  // A loaded machine is slow: what takes long is no failure.
  context.setDefaultTimeout(patient(45_000))
  const page = await context.newPage()
  const problems: string[] = []
  const requests: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', error => problems.push(String(error)))
  page.on('request', request => requests.push(request.url()))
  await options.prepare?.(page)
  await page.goto(pageUrl + (options.hash ?? ''))
  const close = async () => {
    // A call that is being answered by a test has nobody to answer any more.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
  }
  return { page, context, problems, requests, close }
}
