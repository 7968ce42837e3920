import { existsSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing; does nothing where it is there already.
 *
 * Step by step, because recursive `mkdir` of Node never ends where a file system denies that a folder exists although
 * the one above it does, as below `/proc`.
 *
 * @throws the file system's error; `EEXIST` where something else than a folder has the name.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder)
  } catch (error) {
    if (await isFolder(folder)) return
    const isMissingAbove = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissingAbove || dirname(folder) === folder) throw error
    await makeFolder(dirname(folder))
    await mkdir(folder).catch(async second => {
      // Someone else may have made it meanwhile.
      if (!(await isFolder(folder))) throw second
    })
  }
}

/** Returns the path itself where it exists, else the nearest one above it that does. */
export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() === true
}
