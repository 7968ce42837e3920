import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The folder in which every file is generated, whatever its name. */
const generatedPages = 'docs/methods'

/**
 * Which generated files on disk are not what they should be: changed, missing, or left over from an
 * earlier version of the generator.
 *
 * @param root - The repository's folder.
 * @param files - Content by path from `root`.
 * @returns Paths from `root`, sorted.
 */
export async function findDrift(root: string, files: Map<string, string>): Promise<string[]> {
  const drift = new Set<string>()
  for (const [path, content] of files) {
    if ((await readIfThere(join(root, path))) !== content) drift.add(path)
  }
  for (const folder of new Set([...files.keys()].map(path => dirname(path)))) {
    for (const name of await namesIn(join(root, folder))) {
      const generated = name.endsWith('.gen.ts') || folder === generatedPages
      if (generated && !files.has(`${folder}/${name}`)) drift.add(`${folder}/${name}`)
    }
  }
  return [...drift].sort()
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(absent)
}

async function namesIn(path: string): Promise<string[]> {
  return (await readdir(path).catch(absent)) ?? []
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
