import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { writeConfigFile } from './writeConfigFile.ts'

let folder: string | undefined
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true })
})

it('writes a configuration for its owner only, also over one that others may read', async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-config-'))
  const file = join(folder, 'chain-data.json')
  await writeFile(file, '{}', { mode: 0o644 })
  await writeFile(`${file}.new`, 'of a process that was killed', { mode: 0o644 })
  await writeConfigFile(file, { chains: { evm: [{ chainId: 1, rpcUrls: ['http://127.0.0.1:8545'] }] } })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})
