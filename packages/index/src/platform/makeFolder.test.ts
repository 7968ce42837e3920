import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolder } from './makeFolder.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'make-folder-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

test('makes what is missing, also for two at once, and leaves what is there', async () => {
  const folder = join(root, 'a', 'b', 'c')
  await Promise.all([makeFolder(folder), makeFolder(folder)])
  await makeFolder(folder)
  expect((await stat(folder)).isDirectory()).toBe(true)
})

test('a file in the way is an error', async () => {
  await writeFile(join(root, 'file'), '')
  await expect(makeFolder(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
  await expect(makeFolder(join(root, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test.runIf(process.platform === 'linux')(
  'a file system that makes no folders ends it, instead of letting it try for ever',
  async () => {
    await expect(makeFolder('/proc/chain-data/store')).rejects.toHaveProperty('code')
  }
)
