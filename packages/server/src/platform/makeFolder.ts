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
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' && dirname(folder) !== folder) {
      await makeFolder(dirname(folder))
      await mkdir(folder).catch(ignoreFolder(folder))
      return
    }
    await ignoreFolder(folder)(error)
  }
}

/** Someone else may have made it meanwhile. */
function ignoreFolder(folder: string): (error: unknown) => Promise<void> {
  return async error => {
    const found = await stat(folder).catch(() => undefined)
    if (!found?.isDirectory()) throw error
  }
}
