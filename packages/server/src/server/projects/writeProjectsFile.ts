import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fromKeptProject, type KeptProject } from './keptProject.ts'

/**
 * Replaces the file in one step, readable by its owner only (0600): whoever reads, and whatever ends this process,
 * finds the old projects or the new ones. The caller holds the file's lock.
 *
 * @throws the file system's error; `EPERM` where the file belongs to another user, who could not read it afterwards.
 * @remarks A file that is there keeps its owner, so that a server of another user still reads what root has changed.
 */
export async function writeProjectsFile(file: string, projects: readonly KeptProject[]): Promise<void> {
  // A link stays one.
  const target = await realpath(file).catch(() => file)
  const owner = await stat(target).catch(() => undefined)
  const temporary = `${target}.new`
  // What a killed process left behind may have other permissions.
  await rm(temporary, { force: true })
  const handle = await open(temporary, 'wx', 0o600)
  try {
    const self = await handle.stat()
    if (owner !== undefined && (owner.uid !== self.uid || owner.gid !== self.gid)) {
      await handle.chown(owner.uid, owner.gid)
    }
    await handle.writeFile(`${JSON.stringify({ projects: projects.map(fromKeptProject) }, null, 2)}\n`)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  await rename(temporary, target)
  await syncFolder(dirname(target))
}

/** Or a power cut could bring the old file back, and with it a key that was revoked. */
async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
