import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SyncStatus } from '@chain-data/index'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { findChromium, startChromium } from '../../../client/test/runtimes/chromium.ts'
import { createStatusPages } from '../../src/features/operatorPages/statusPage/createStatusPages.ts'
import { toChainState } from '../../src/model/sync.ts'
import { createNodeHandler } from '../../src/server/http/createNodeHandler.ts'
import { type Listener, listen } from '../../src/server/http/listen.ts'
import { startService } from '../http/startService.ts'
import { states } from './reports.ts'

const executable = findChromium()
if (executable === undefined) {
  process.stderr.write(
    'the status page in Chromium is skipped: no browser found; CHROMIUM_PATH may name one\n'
  )
}

const chainIds = { '/evm-chain': [1], '/solana': [] }
const pollMs = 50
const hash = `0x${'ab'.repeat(32)}` as const

/** `KEEP_SCREENSHOTS` names a folder that they stay in, of every state; else these are pictured, and forgotten. */
const kept = process.env.KEEP_SCREENSHOTS
const pictured = ['inSync', 'indexing', 'stalled', 'hostile']

/** One status page per state, each below a path of its own, as a proxy would show it. */
function listenWithStates(): Promise<Listener> {
  const pagesByState = new Map(
    Object.entries(states).map(([name, report]) => [
      name,
      createStatusPages({ report: () => report, pollMs: 500 })
    ])
  )
  const handler = createNodeHandler(async ({ path }) => {
    // As nginx does, which merges slashes.
    const [, name = '', rest = ''] = path.replace(/^\/+/, '/').split('/')
    const page = pagesByState.get(name)?.get(`/${rest}`)
    return page === undefined ? { status: 404, headers: {}, body: '' } : page()
  }, 1_000)
  return listen({ handler, host: '127.0.0.1', port: 0, headerBytes: 16_384, socketIdleMs: 10_000 })
}

/** The text elements of the page with too little contrast against what is behind them, by the formula of WCAG 2. */
const faintTexts = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const known = new Map()
  const rgba = color => {
    if (known.has(color)) return known.get(color)
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    known.set(color, [...canvas.getImageData(0, 0, 1, 1).data])
    return known.get(color)
  }
  const luminance = ([r, g, b]) => [r, g, b]
    .map(v => v / 255)
    .map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0)
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor)
      if (color[3] === 255) return color
    }
    return [255, 255, 255, 255]
  }
  const texts = [...document.body.querySelectorAll('*')].filter(element =>
    element.checkVisibility() && [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== ''))
  return texts.map(element => {
    const [a, b] = [luminance(rgba(getComputedStyle(element).color)), luminance(behind(element))]
    return { text: element.textContent.slice(0, 40), ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) }
  }).filter(({ ratio }) => ratio < 4.5).concat(texts.length < 40 ? [{ text: 'too few texts', ratio: texts.length }] : [])
})()`

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Runs axe in the page. Returns its findings, each with the elements. */
async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string }[] }[]
  }>("axe.run({ resultTypes: ['violations'] })")
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Where everything stands that a reader may be looking at. */
const positions = `[...document.querySelectorAll('h1, h2, h3, dt, figure, table, footer')]
  .map(element => { const { x, y } = element.getBoundingClientRect(); return [Math.round(x), Math.round(y)].join() })`

describe.skipIf(executable === undefined)('the status page in Chromium', () => {
  let browser: Browser
  let fixed: Listener
  let page: Page
  let troubles: string[]

  beforeAll(async () => {
    ;[browser, fixed] = await Promise.all([startChromium(executable ?? ''), listenWithStates()])
  })
  afterAll(async () => {
    await browser?.close()
    await fixed?.close(0)
  })
  /** A page in a fresh browser profile. */
  const openPage = async (options?: BrowserContextOptions) => {
    const opened = await (await browser.newContext(options)).newPage()
    opened.on('console', message => troubles.push(message.text()))
    opened.on('pageerror', error => troubles.push(String(error)))
    opened.on('dialog', dialog => {
      troubles.push(dialog.message())
      void dialog.dismiss()
    })
    await opened.addInitScript(
      `document.addEventListener('securitypolicyviolation', event => console.error('refused ' + event.blockedURI))`
    )
    return opened
  }
  beforeEach(async () => {
    troubles = []
    page = await openPage()
  })
  afterEach(() => page.context().close())

  /** Opens the page anew, with what only a fresh profile can be given. */
  const reopenPage = async (options: BrowserContextOptions) => {
    await page.context().close()
    page = await openPage(options)
  }

  const textOf = (selector: string) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`) as Promise<string>
  /** Waits until the page has sent nothing for four polls. */
  const networkIdle = async () => {
    const sends = async () => {
      const [outcome] = await Promise.allSettled([page.waitForRequest(() => true, { timeout: pollMs * 4 })])
      return outcome?.status === 'fulfilled'
    }
    while (await sends());
  }
  const eventually = (selector: string) =>
    expect.poll(() => textOf(selector), { timeout: patient(5_000), interval: 20 })
  const focused = () =>
    page.evaluate(`(() => {
      const element = document.activeElement
      const outline = getComputedStyle(element).outlineStyle
      const name = element.getAttribute('aria-label') ?? element.textContent
      return (element.id || name.trim().slice(0, 60)) + (outline === 'none' ? ' (focus unseen)' : '')
    })()`) as Promise<string>

  describe('of a running server', () => {
    let head: number
    let change: Partial<SyncStatus>
    let service: ReturnType<typeof startService>
    let listener: Listener
    let asked: number

    beforeEach(async () => {
      head = 1_000
      change = {}
      asked = 0
      service = startService({
        chainIds,
        chainStates: () => [
          toChainState(
            {
              ...{ chainId: 1, phase: 'following', head, indexedFrom: 0, finalized: head - 64 },
              ...{ backfilled: true, degraded: false, poolCovered: true, poolSeenAtMs: Date.now() },
              indexedTo: { number: head, hash },
              ...change
            },
            { nowMs: Date.now(), serveWhileSyncing: false }
          )
        ],
        solanaStates: () => {
          asked++
          return []
        },
        statusTimes: { sampleMs: 1_100, freshMs: 0, pollMs }
      })
      listener = await service.listen()
    })
    afterEach(async () => {
      service.beginClosing()
      await listener.close(0)
    })

    test('changes in place: nothing moves, nothing is refused, nobody else is asked', async () => {
      const hosts = new Set<string>()
      page.on('request', sent => {
        if (!sent.url().startsWith('data:')) hosts.add(new URL(sent.url()).origin)
      })
      await page.goto(listener.url)
      await eventually('dd data').toBe('1,000')
      const before = await page.evaluate(positions)
      head = 1_001
      await eventually('dd data').toBe('1,001')
      expect(await page.evaluate(positions)).toEqual(before)
      expect(troubles).toEqual([])
      expect([...hosts]).toEqual([listener.url])
    })

    test('tells aloud when a chain stalls, and when it goes on; not every number', async () => {
      await page.goto(listener.url)
      head = 1_002
      await eventually('dd data').toBe('1,002')
      expect(await textOf('#announcer')).toBe('')
      change = { phase: 'stalled', stalledSinceMs: Date.now(), problem: 'no node answers' }
      await eventually('#announcer').toMatch(/^Chain 1 has stalled, since /)
      expect(await textOf('.problem')).toBe('no node answers')
      expect(await page.title()).toBe('Stalled · chain-data status')
      change = {}
      await eventually('#announcer').toBe('Chain 1 is in sync')
      expect(await textOf('.problem')).toBeUndefined()
    })

    test('says when the server is away, keeps what was known, and goes on when it is back', async () => {
      await page.goto(listener.url)
      await eventually('h1').toBe('Chain 1 is in sync')
      const port = Number(new URL(listener.url).port)
      await listener.close(0)
      await eventually('h1').toMatch(/^Not reachable since \d\d:\d\d/)
      expect(await textOf('#answer')).toMatch(/Showing what was known at \d\d:\d\d/)
      expect(await textOf('dd data')).toBe('1,000')
      listener = await listen({
        ...{ handler: service.nodeHandler, host: '127.0.0.1', port },
        ...{ headerBytes: 16_384, socketIdleMs: 10_000 }
      })
      await eventually('h1').toBe('Chain 1 is in sync')
    })

    test('asks nobody while it is hidden, and at once when it is shown again', async () => {
      await page.goto(listener.url)
      const hide = (hidden: boolean) =>
        page.evaluate(`
          Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
          document.dispatchEvent(new Event('visibilitychange'))`)
      await hide(true)
      await networkIdle()
      const before = asked
      await networkIdle()
      expect(asked).toBe(before)
      await hide(false)
      await expect.poll(() => asked, { interval: 10 }).toBeGreaterThan(before)
    })

    test('shows the state without JavaScript, and no button that would do nothing', async () => {
      await reopenPage({ javaScriptEnabled: false })
      await page.goto(listener.url)
      expect(await textOf('h1')).toBe('Chain 1 is in sync')
      expect(
        await page.evaluate(`[...document.querySelectorAll('button')].some(b => b.checkVisibility())`)
      ).toBe(false)
    })

    test('writes times in the zone and numbers in the manner of the reader, also when it is brought up to date', async () => {
      await reopenPage({ timezoneId: 'Asia/Tokyo', locale: 'de-DE' })
      change = { phase: 'stalled', stalledSinceMs: Date.now(), problem: 'no node answers' }
      await page.goto(listener.url)
      await eventually('dd data').toBe('1.000')
      head = 1_001
      await eventually('dd data').toBe('1.001')
      const [shown, iso] = (await page.evaluate(
        `(() => { const { textContent, dateTime } = document.querySelector('h1 time'); return [textContent, dateTime] })()`
      )) as [string, string]
      const tokyo = new Date(Date.parse(iso) + 9 * 3_600_000).toISOString().slice(11, 16)
      expect(shown).toBe(tokyo)
    })

    test('keeps the focus and what the reader has selected when it is brought up to date', async () => {
      await page.goto(listener.url)
      await page.evaluate(
        `document.querySelector('#theme').focus(); getSelection().selectAllChildren(document.querySelector('h1'))`
      )
      head = 1_001
      await eventually('dd data').toBe('1,001')
      expect(await page.evaluate('getSelection().toString()')).toBe('Chain 1 is in sync')
      expect(await focused()).toBe('theme')
    })

    test('remembers the theme, and shows it before anything else', async () => {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(listener.url)
      const ground = () => page.evaluate(`getComputedStyle(document.body).backgroundColor`)
      const light = await ground()
      for (const theme of ['light', 'dark']) {
        await page.click('#theme')
        expect(await textOf('#theme')).toBe(`Theme: ${theme}`)
      }
      const dark = await ground()
      expect(dark).not.toBe(light)
      await page.reload()
      expect([await ground(), await textOf('#theme')]).toEqual([dark, 'Theme: dark'])
      await page.click('#theme')
      expect([await ground(), await textOf('#theme')]).toEqual([light, 'Theme: auto'])
    })

    test('is walked through with the Tab key from top to bottom, the focus always seen', async () => {
      await page.goto(`${fixed.url}/several/`)
      const seen: string[] = []
      for (let presses = 0; presses < 3; presses++) {
        await page.keyboard.press('Tab')
        seen.push(await focused())
      }
      expect(seen).toEqual(['theme', 'Chain 10: Stalled', 'Chain 8453: Behind'])
    })

    test('moves nothing for those who want no motion', async () => {
      // A server without calls draws no chart.
      await page.goto(`${fixed.url}/inSync/`)
      const duration = () =>
        page.evaluate(`getComputedStyle(document.querySelector('.line')).transitionDuration`)
      expect(await duration()).not.toBe('0s')
      await page.emulateMedia({ reducedMotion: 'reduce' })
      expect(await duration()).toBe('0s')
    })
  })

  test('fits 360 and 1280 pixels, with enough contrast in light and dark, in every state', async () => {
    const folder = kept ?? (await mkdtemp(join(tmpdir(), 'chain-data-status-page-')))
    try {
      for (const state of Object.keys(states)) {
        await page.goto(`${fixed.url}/${state}/`)
        for (const width of [360, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          for (const scheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme: scheme })
            if (kept !== undefined || pictured.includes(state)) {
              const path = join(folder, `${state}-${width}-${scheme}.png`)
              const shot = await page.screenshot({ path })
              expect(shot.length, state).toBeGreaterThan(8_000)
            }
            expect(await page.evaluate(faintTexts), `${state} ${width} ${scheme}`).toEqual([])
            if (pictured.includes(state)) {
              expect(await axeFindings(page), `${state} ${width} ${scheme}`).toEqual([])
            }
          }
          expect(await page.evaluate('document.documentElement.scrollWidth'), state).toBe(width)
        }
      }
    } finally {
      if (kept === undefined) await rm(folder, { recursive: true })
    }
    expect(troubles).toEqual([])
  })

  test('asks its own host, also below a path that begins like another host', async () => {
    await page.goto(`${fixed.url}//inSync/`)
    const answered = await page.waitForResponse(() => true)
    expect(answered.url()).toBe(`${fixed.url}//inSync/`)
    expect(troubles).toEqual([])
  })

  test('takes what a node says for text, also when it is brought up to date', async () => {
    await page.goto(`${fixed.url}/hostile`)
    await eventually('#answer time').toMatch(/^\d\d:\d\d$/)
    expect(await textOf('.problem')).toContain('<img src=x onerror=')
    expect(await page.evaluate(`document.images.length`)).toBe(0)
    expect(await page.title()).toBe('Stalled · chain-data status')
    expect(troubles).toEqual([])
  })
})
