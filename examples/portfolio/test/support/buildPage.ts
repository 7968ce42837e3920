import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')

/**
 * Builds the page as its README says, in a process of its own: what a test runner sets (`NODE_ENV`) changes what is built.
 *
 * @param environment - `VITE_CHAIN_DATA_*`.
 * @param folder - Where the files go.
 */
export async function buildPage(
  environment: Readonly<Record<string, string>>,
  folder: string
): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')
  const args = [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'error']
  await promisify(execFile)(process.execPath, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_ENV: 'production',
      ...environment
    }
  })
}
