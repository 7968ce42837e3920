import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Manifest {
  readonly name: string
  readonly private?: boolean
}

const published = readdirSync(join(root, 'packages'))
  .map(name => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest)
  .filter(manifest => manifest.private !== true)
  .map(({ name }) => name)

/** What is wrong with a changeset. One that names no package is for a change that no user notices. */
function problemsOf(text: string): string[] {
  const [, head, words = ''] = /^---\n(.*?)---\n(.*)$/s.exec(text) ?? []
  if (head === undefined) return ['has no list of packages between two lines of ---']
  const problems = words.trim() === '' ? ['tells nothing'] : []
  for (const line of head.split('\n').filter(part => part !== '')) {
    const [, name = '', step = ''] = /^['"](.+)['"]: (\w+)$/.exec(line) ?? []
    if (!published.includes(name)) problems.push(`names no published package: ${line}`)
    if (!['patch', 'minor', 'major'].includes(step)) problems.push(`names no step: ${line}`)
  }
  return problems
}

describe('the changesets', () => {
  const folder = join(root, '.changeset')
  const names = readdirSync(folder).filter(name => name.endsWith('.md') && name !== 'README.md')

  // After a release there are none.
  it('name published packages and how large a step each takes, and tell something', () => {
    const wrong = names.flatMap(name =>
      problemsOf(readFileSync(join(folder, name), 'utf8')).map(problem => `${name} ${problem}`)
    )
    expect(wrong).toEqual([])
  })

  it('led to a CHANGELOG of each published package that begins with its version', () => {
    const found = published.map(name => {
      const folder = join(root, 'packages', name.replace('@chain-data/', ''))
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        version: string
      }
      const [, newest] = /^## (.+)$/m.exec(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')) ?? []
      return { name, newest, version }
    })
    expect(found.filter(({ newest, version }) => newest !== version)).toEqual([])
    expect(new Set(found.map(({ version }) => version)).size).toBe(1)
  })

  it('share one version', () => {
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as { fixed: string[][] }
    expect(config.fixed.map(group => [...group].sort())).toEqual([[...published].sort()])
  })

  it.each([
    ["---\n'@chain-data/client': minor\n---\n\nPages were added.\n", []],
    ['---\n---\n\nNo user notices.\n', []],
    ["---\n'@chain-data/clint': minor\n---\n\nPages.\n", ['names no published package']],
    ["---\n'@chain-data/codegen': minor\n---\n\nPages.\n", ['names no published package']],
    ["---\n'@chain-data/client': small\n---\n\nPages.\n", ['names no step']],
    ["---\n'@chain-data/client': minor\n---\n\n", ['tells nothing']],
    ['Pages were added.\n', ['has no list of packages']]
  ])('are judged: %j', (text, expected) => {
    expect(problemsOf(text)).toEqual(expected.map(part => expect.stringContaining(part)))
  })
})
