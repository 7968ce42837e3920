import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

/** What is made by tools, and an index beside the program that made it. */
const made = [
  /(^|\/)(node_modules|dist|coverage|\.next|\.tmp)\/$/,
  /(^|\/)(next-env\.d\.ts|[^/]+\.(tgz|tsbuildinfo))$/,
  /^docs\/site\/$/,
  /^((packages|examples)\/[^/]+\/)?chain-data\/$/
]

// A source that git ignores is there for its author and for nobody who clones the repository.
test.skipIf(!existsSync(`${repository}/.git`))('git ignores what is made, and no source', () => {
  const folders = ['examples', 'packages', 'spec', 'docs', '.ci', '.config', '.changeset']
  const options = ['--others', '--ignored', '--exclude-standard', '--directory']
  const output = execFileSync('git', ['ls-files', '-z', ...options, '--', ...folders], {
    cwd: repository,
    encoding: 'utf8'
  })
  const ignored = output.split('\0').filter(path => path !== '' && !made.some(pattern => pattern.test(path)))
  expect(ignored).toEqual([])
})
