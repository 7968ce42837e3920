import { existsSync } from 'node:fs'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
]

/** A Chromium or Chrome of this machine; `CHROMIUM_PATH` names another one. @returns Nothing where there is none. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM_PATH, ...places].find(path => path !== undefined && existsSync(path))
}
