import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Portfolio } from './support/startPortfolio.ts'

/** What is put on a host: small, without secrets, and closed to everything but the service and pictures. */
export function buildSuite(portfolio: () => Portfolio): void {
  test('the scripts of the page are below 150 kB, gzipped', async () => {
    const folder = join(portfolio().folder, 'assets')
    const scripts = (await readdir(folder)).filter(name => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(0)
    const sizes = await Promise.all(
      scripts.map(async name => gzipSync(await readFile(join(folder, name))).length)
    )
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(150_000)
  })

  test('the policy of the page stops inline scripts, markup from text, and calls to other hosts', async () => {
    const { open } = portfolio()
    const { page, requests, close } = await open()
    const stopped = await page.evaluate(async () => {
      const violations: string[] = []
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        violations.push(effectiveDirective)
      )
      const tries: (() => unknown)[] = [
        () => Object.assign(document.createElement('script'), { text: 'document.title = "hurt"' }),
        () => Object.assign(document.createElement('p'), { innerHTML: '<img src=x onerror=alert(1)>' }),
        () => fetch('https://elsewhere.invalid/')
      ]
      const thrown: string[] = []
      for (const attempt of tries) {
        try {
          await attempt()
        } catch (error) {
          thrown.push((error as Error).name)
        }
      }
      // They are told a moment after what they stopped.
      const deadline = performance.now() + 20_000
      while (violations.length < tries.length && performance.now() < deadline) {
        await new Promise(resolve => setTimeout(resolve, 10))
      }
      return { violations, thrown }
    })
    expect(stopped.thrown).toEqual(['TypeError', 'TypeError', 'TypeError'])
    expect(stopped.violations).toEqual([
      'require-trusted-types-for',
      'require-trusted-types-for',
      'connect-src'
    ])
    expect(requests.filter(url => url.includes('elsewhere'))).toEqual([])
    await close()
  })
}
