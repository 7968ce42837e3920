import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { namedDependencies, unnamedFolders, wrongNames } from './readArchitecture.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
const examplesPage = readFileSync(join(root, 'examples/README.md'), 'utf8')

/** What git has or would take, so that caches, builds, indexes and the settings of editors count for nothing. */
const listing = ['ls-files', '--cached', '--others', '--exclude-standard', '--exclude=.*/']
const files = execFileSync('git', listing, {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024
})
  .split('\n')
  .filter(file => file !== '')

describe('docs/architecture.md', () => {
  it('names every folder of the repository, of each package and of each of their modules', () => {
    expect(unnamedFolders(page, files)).toEqual([])
  })

  it('names nothing that is not there', () => {
    expect(wrongNames(page, files)).toEqual([])
  })

  it.each([
    ['packages/server/src/ledger/open.ts', 'packages/server/src/ledger/'],
    ['packages/server/src/evm/gas/read.ts', 'packages/server/src/evm/gas/'],
    ['packages/server/src/server/queue/open.ts', 'packages/server/src/server/queue/'],
    ['packages/index/src/mysql/open.ts', 'packages/index/src/mysql/'],
    ['packages/client/src/vue/index.ts', 'packages/client/src/vue/'],
    ['packages/wallet/src/index.ts', 'packages/wallet/'],
    ['tools/tidy.ts', 'tools/']
  ])('would miss the folder of %s', (file, folder) => {
    expect(unnamedFolders(page, [...files, file])).toEqual([folder])
  })

  it.each([
    'packages/server/src/server/indexer/',
    'packages/server/src/evm/blocks/traces/',
    'packages/server/src/server/limits/',
    'packages/index/src/store/',
    'packages/devnet/src/evm/story/',
    'packages/conformance/src/report/',
    'packages/client/src/native.ts',
    'server/rpc/toWireError.ts',
    'examples/'
  ])('would be wrong without %s', name => {
    const others = files.filter(file => !file.startsWith(name) && !file.endsWith(`/${name}`))
    expect(others.length).toBeLessThan(files.length)
    expect(wrongNames(page, others)).toContain(name)
  })
})

/** A package's description, as far as it is read here. */
interface Manifest {
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

describe('the dependencies in docs/architecture.md', () => {
  it('are those of the packages that are published', () => {
    const listed = files
      .filter(file => /^packages\/[\w-]+\/package\.json$/.test(file))
      .flatMap(file => {
        const manifest = JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest
        if (manifest.private) return []
        const { dependencies, optionalDependencies, peerDependencies } = manifest
        return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
          .filter(name => !name.startsWith('@chain-data/'))
          .map(name => `${file.slice(0, -'package.json'.length)} ${name}`)
      })
    expect(listed.length).toBeGreaterThan(10)
    expect(namedDependencies(page).sort()).toEqual(listed.sort())
  })
})

describe('examples/README.md', () => {
  const listed = [...examplesPage.matchAll(/\[([\w-]+)\]\(\1\/README\.md\)/g)].map(([, name]) => name)

  it('lists every example, and nothing else', () => {
    const folders = files
      .map(file => /^examples\/([\w-]+)\//.exec(file)?.[1])
      .filter(name => name !== undefined)
    expect([...listed].sort()).toEqual([...new Set(folders)].sort())
  })

  it.each(listed)('%s has a README and a test', name => {
    const own = files.filter(file => file.startsWith(`examples/${name}/`))
    expect(own).toContain(`examples/${name}/README.md`)
    expect(own.filter(file => /\.test\.tsx?$/.test(file))).not.toEqual([])
  })
})
