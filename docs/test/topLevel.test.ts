import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('the repository holds nothing at its top level but these names', () => {
  const tree = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const names = new Set(
    tree
      .trim()
      .split('\n')
      .map(path => path.split('/')[0])
  )
  expect([...names].sort()).toEqual([
    '.changeset',
    '.ci',
    '.config',
    '.github',
    '.gitignore',
    '.npmrc',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'biome.json',
    'changeset.config.json',
    'docs',
    'examples',
    'package-lock.json',
    'package.json',
    'packages',
    'spec',
    'tsconfig.base.json'
  ])
})
