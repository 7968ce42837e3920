import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
]

/**
 * A Chromium or Chrome of this machine; `CHROMIUM_PATH` names another one.
 *
 * @returns `undefined` where there is none.
 */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM_PATH, ...places].find(path => path !== undefined && existsSync(path))
}

/** Starts it without a window and without touching the network outside loopback. */
export function startChromium(executablePath: string): Promise<Browser> {
  // The sandbox cannot start as root, and only pages of these tests are opened.
  const isRoot = process.getuid?.() === 0
  const args = ['--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking']
  return chromium.launch({ executablePath, args: isRoot ? [...args, '--no-sandbox'] : args })
}
