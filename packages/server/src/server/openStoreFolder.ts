import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '../platform/errors.ts'
import { makeFolder } from '../platform/makeFolder.ts'
import { parseStoreUrl } from '../store/parseStoreUrl.ts'

/** The folder of the store; for `sqlite::memory:` a private one that goes with the server. */
export async function openStoreFolder(
  url: string
): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const location = parseStoreUrl(url)
  switch (location.kind) {
    case 'sqlite':
      await requireWritable(location.folder)
      return { folder: location.folder, remove: async () => {} }
    case 'memory': {
      const folder = await mkdtemp(join(tmpdir(), 'chain-data-'))
      return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
    }
    case 'postgres':
      throw new ConfigError('store: this version does not serve postgres:// yet; expected sqlite:<folder>')
  }
}

/** The folder is made where it is missing, so that a wrong one is found now and not by the indexers. */
async function requireWritable(folder: string): Promise<void> {
  try {
    await makeFolder(folder)
    await access(folder, constants.W_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown trouble'
    throw new ConfigError(
      `store is "sqlite:${folder.slice(0, 100)}" (${code}); expected a folder that can be written`
    )
  }
}
