import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where the vectors are, from the root of the repository. */
export const vectorsPath = 'spec/vectors'

const ending = '.io'

/**
 * The vectors of the specification.
 *
 * @param root - The repository's folder.
 * @returns Text of each file by `<folder>/<case>`; empty where there is no such folder.
 */
export async function readVectors(root: string): Promise<Map<string, string>> {
  const folder = join(root, vectorsPath)
  const files = await readdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return []
  })
  const vectors = new Map<string, string>()
  for (const file of files.filter(name => name.endsWith(ending))) {
    vectors.set(
      file.slice(0, -ending.length).replaceAll('\\', '/'),
      await readFile(join(folder, file), 'utf8')
    )
  }
  return vectors
}
