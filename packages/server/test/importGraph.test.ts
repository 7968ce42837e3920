import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readImportTable } from './importTable.ts'

const source = fileURLToPath(new URL('../src', import.meta.url))

/**
 * Which module may import which, as docs/architecture.md tells. Every module may also import `platform`, `model` and
 * itself.
 */
const allowed = readImportTable()

const everyoneMayUse = ['platform', 'model']

const sourceFiles = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  file => file.endsWith('.ts') && !/\.(test|bench|contract)\.ts$/.test(file)
)

function moduleOf(file: string): string {
  const parts = relative(source, file).split('/')
  return parts[0] === 'server' && parts.length > 2 ? `server/${parts[1]}` : (parts[0] ?? '')
}

function importsOf(file: string): { file: string; from: string; to: string }[] {
  const path = join(source, file)
  const targets = readFileSync(path, 'utf8').matchAll(/(?:from|import|new URL)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)
  return [...targets].map(([, target = '']) => ({
    file,
    from: moduleOf(path),
    to: moduleOf(resolve(dirname(path), target))
  }))
}

describe('the import graph of the server', () => {
  const imports = sourceFiles.flatMap(importsOf)

  it('has every module in the picture', () => {
    expect(imports.length).toBeGreaterThan(50)
    const names = new Set(imports.flatMap(({ from, to }) => [from, to]))
    expect([...names].filter(name => !(name in allowed) && !name.startsWith('..'))).toEqual([])
  })

  it('only goes the ways the architecture allows', () => {
    const wrong = imports
      .filter(({ from, to }) => from !== to && !everyoneMayUse.includes(to) && !allowed[from]?.includes(to))
      .map(({ file, from, to }) => `${file}: ${from} -> ${to}`)
    expect(wrong).toEqual([])
  })

  it('reads the environment in config only', () => {
    const readers = sourceFiles.filter(file =>
      readFileSync(join(source, file), 'utf8').includes('process.env')
    )
    expect(readers.filter(file => file !== 'server/config/config.ts')).toEqual([])
  })
})
