import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('./', import.meta.url))

/** The program of the README that uses the client. */
function readmeProgram(): string {
  const readme = readFileSync(join(here, '../../README.md'), 'utf8')
  const program = /```ts\n([\s\S]*?)```/.exec(readme)?.[1]
  if (program === undefined) throw new Error('README.md has no block of TypeScript.')
  return program
}

/** Writes the playground, a page and its script, into the folder of the site. */
export async function buildPlayground(site: string): Promise<void> {
  cpSync(join(here, 'playground.html'), join(site, 'playground.html'))
  await build({
    entryPoints: [join(here, 'playground.js')],
    outfile: join(site, 'playground.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    platform: 'browser',
    conditions: ['@chain-data/source'],
    define: { README_PROGRAM: JSON.stringify(readmeProgram()) },
    logLevel: 'warning'
  })
}
