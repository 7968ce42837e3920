import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium, startChromium } from '../../packages/client/test/runtimes/chromium.ts'
import { buildPlayground } from '../playground/buildPlayground.ts'
import { llmsText } from '../theme/llmsText.ts'

const chromium = findChromium()

describe.skipIf(chromium === undefined)('the playground', () => {
  const site = mkdtempSync(join(tmpdir(), 'chain-data-playground-'))
  let browser: Awaited<ReturnType<typeof startChromium>>

  beforeAll(async () => {
    await buildPlayground(site)
    browser = await startChromium(chromium!)
  })

  afterAll(async () => {
    await browser?.close()
    rmSync(site, { recursive: true })
  })

  /** The page in a window of this width, and every address that it asked for besides its own files. */
  async function openPage(width: number, colorScheme: 'light' | 'dark') {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    const asked: string[] = []
    page.on('request', request => {
      if (!request.url().startsWith('file:')) asked.push(request.url())
    })
    await page.goto(pathToFileURL(join(site, 'playground.html')).href)
    return { page, asked, program: page.locator('#program'), output: page.locator('#output') }
  }

  it('runs the program of the README without a server', async () => {
    const { page, asked, program, output } = await openPage(1280, 'light')
    expect(await program.inputValue()).toContain("import { createClient } from '@chain-data/client'")
    await page.getByRole('button', { name: 'Run' }).click()
    await page.waitForFunction("document.getElementById('output').textContent !== ''")
    expect(await output.textContent()).toMatch(/^\d+ wei, tokens: \d+, NFTs: \d+, newest: 0x[0-9a-f]{64}\n$/)
    expect(asked).toEqual([])
    await page.close()
  })

  it('runs what people write, and prints errors in the words of the client', async () => {
    const { page, program, output } = await openPage(1280, 'light')
    const run = async (text: string) => {
      await program.fill(text)
      await page.getByRole('button', { name: 'Run' }).click()
      await page.waitForFunction("document.getElementById('output').textContent !== ''")
      return output.textContent()
    }
    const begin = `import { createClient, type Client } from '@chain-data/client'
const client = createClient({ baseUrl: 'http://127.0.0.1:8080', auth: false, chainId: 31337 })\n`
    expect(await run(`${begin}console.log({ wei: 5n }, (await client.getSyncStatus({})).ready)`)).toBe(
      '{\n  "wei": "5n"\n} true\n'
    )
    expect(await run(`${begin}await client.getTokensAndNFTs({ address: 'vitalik.eth' })`)).toContain(
      'address'
    )
    expect(await run(`import { x } from 'lodash'`)).toBe(
      'Error: lodash cannot be imported here, only @chain-data/client.\n'
    )
    await page.getByRole('button', { name: 'Reset' }).click()
    expect(await program.inputValue()).toContain('getTransactionsByAddress')
    await page.close()
  })

  it.each([
    [360, 'light'],
    [1280, 'dark']
  ] as const)('fits a window of %i px in %s, and axe finds nothing', async (width, colorScheme) => {
    const { page } = await openPage(width, colorScheme)
    await page.getByRole('button', { name: 'Run' }).click()
    await page.waitForFunction("document.getElementById('output').textContent !== ''")
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8'))
    const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
      'axe.run()'
    )
    expect(violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))).toEqual([])
    if (process.env.PICTURES !== undefined) {
      await page.screenshot({ path: join(process.env.PICTURES, `playground-${width}-${colorScheme}.png`) })
    }
    await page.close()
  })
})

describe('llms.txt', () => {
  const text = llmsText()

  it('says what the project is, and has every shelf', () => {
    expect(text).toMatch(/^# chain-data\n\n> chain-data answers .+\n\n## Use it\n/)
    expect(text.match(/^## .+$/gm)).toEqual(['## Use it', '## Run it', '## Internals'])
  })

  it('says of every page what it is about', () => {
    const lines = text.split('\n').filter(line => line.startsWith('-'))
    expect(lines.length).toBeGreaterThan(40)
    for (const line of lines) expect(line).toMatch(/^- \[[^\]]+\]\(documents\/[\w/-]+\.html\): .{10,}$/)
  })
})
