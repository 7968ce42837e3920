import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { chainPresets } from '../src/model/chainPresets.ts'
import { knownExceptions } from '../src/model/knownExceptions.ts'
import { environmentVariables } from '../src/server/config/environment.ts'
import { configSchema } from '../src/server/config/schema.ts'
import { listKeys } from '../src/server/config/schemaDocs.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url)), 'utf8')

/** Rows of the table below a heading: the texts of their cells. */
function rowsBelow(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter(line => line.startsWith('| `'))
  return rows.map(row => row.split('|').map(cell => cell.trim().replaceAll('`', '')))
}

describe('docs/configuration.md', () => {
  const keys = listKeys(configSchema, '')
  const rows = rowsBelow('Keys')

  it('lists the keys of the schema, and no others, in its order', () => {
    expect(keys.length).toBeGreaterThan(30)
    expect(rows.map(([, path]) => path)).toEqual(keys.map(({ path }) => path))
  })

  it('shows the default of every key', () => {
    const expected = keys.map(({ path, fallback }) => [
      path,
      fallback === undefined ? 'required' : JSON.stringify(fallback)
    ])
    expect(rows.map(([, path, shown]) => [path, shown])).toEqual(expected)
  })

  it('lists the chains whose presets have waivers, each with its checks and its last block', () => {
    const expected = [...knownExceptions].map(([chainId, exceptions]) => [
      `${chainPresets.get(chainId)?.name} (${chainId})`,
      exceptions
        .map(({ check, toBlock }) => (toBlock ? `${check} to ${toBlock.toLocaleString('en-US')}` : check))
        .join(', ')
    ])
    const section = page.split('\n## Presets\n')[1]?.split('\n## ')[0] ?? ''
    const cells = [...section.matchAll(/^\| (.*\)) \| (.*) \|$/gm)]
    expect(cells.map(([, chain, checks = '']) => [chain, checks.replaceAll('`', '')])).toEqual(expected)
  })

  it('lists every environment variable, and no others', () => {
    const names = rowsBelow('Environment variables').map(([, name]) => name)
    expect(names).toEqual(environmentVariables.map(([name]) => name))
  })
})
