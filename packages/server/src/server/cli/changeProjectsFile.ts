import { realpath } from 'node:fs/promises'
import { codeOf, lockFile, StoreError, StoreInUseError, type WriterLock } from '@chain-data/index'
import { ConfigError } from '../../platform/errors.ts'
import { loadProjects, type Project } from '../config/config.ts'
import { addKey, ProjectEditError } from '../projects/editProjects.ts'
import { createKey, digestKey, formatKeyDigest, keyIdOf } from '../projects/keyDigest.ts'
import {
  type KeptKey,
  type KeptProject,
  readProjectsFile,
  toKeptProject,
  writeProjectsFile
} from '../projects/projectsFile.ts'

const lockWaitMs = 10_000

/**
 * Changes the projects file, one command at a time: a lock beside it, `<file>.lock`, is held meanwhile, and goes with
 * the process.
 *
 * @param edit - gets the projects of the file, none where there is no file; what it throws leaves the file as it was.
 * @throws {ConfigError} what is in the file is wrong.
 * @throws {ProjectEditError} the file cannot be written, or another command holds it for more than ten seconds.
 */
export async function changeProjectsFile<R>(
  file: string,
  edit: (projects: readonly KeptProject[]) => {
    readonly projects: readonly KeptProject[]
    readonly result: R
  }
): Promise<R> {
  const lock = await acquireLock(file)
  try {
    const { projects, result } = edit(await readKept(file))
    await writeProjectsFile(file, projects).catch((error: unknown) => {
      throw cannotWrite(file, error)
    })
    return result
  } finally {
    lock.release()
  }
}

async function readKept(file: string): Promise<readonly KeptProject[]> {
  try {
    return (await readProjectsFile(file)).map(toKeptProject)
  } catch (error) {
    if (error instanceof ConfigError && error.context.missing === true) return []
    throw error
  }
}

async function acquireLock(file: string): Promise<WriterLock> {
  try {
    // One file has one lock, whichever link leads to it.
    const target = await realpath(file).catch(() => file)
    return await lockFile(`${target}.lock`, lockWaitMs)
  } catch (error) {
    if (!(error instanceof StoreInUseError)) throw cannotWrite(file, error)
    throw new ProjectEditError(
      `projectsFile "${file}" is being changed by another command; expected that to end within ${lockWaitMs / 1_000} seconds`
    )
  }
}

function cannotWrite(file: string, error: unknown): ProjectEditError {
  return new ProjectEditError(
    `projectsFile "${file}" could not be written (${reasonOf(error)}); expected a folder that is there and can be written, and a file of the same user`
  )
}

function reasonOf(error: unknown): string {
  // Of the lock.
  if (error instanceof StoreError) return error.message
  return codeOf(error) ?? 'unknown trouble'
}

/**
 * Makes a server key of a project and keeps its digest in a projects file, which is made where it is missing.
 *
 * @returns the key, which is nowhere else.
 */
export async function createServerKey(projectId: string, file: string): Promise<string> {
  const nowMs = Date.now()
  const { secret, kept } = makeKey()
  const key: KeptKey = { kind: 'server', createdAt: new Date(nowMs).toISOString(), ...kept }
  await changeProjectsFile(file, projects => ({
    projects: addKey(projects, { projectId, key, nowMs }),
    result: undefined
  }))
  return secret
}

/** A new key, and what is kept of it. */
export function makeKey(): { readonly secret: string; readonly kept: Pick<KeptKey, 'key' | 'id'> } {
  const secret = createKey()
  const digest = formatKeyDigest(digestKey(secret))
  const id = keyIdOf(digest)
  return { secret, kept: { ...(id === undefined ? {} : { id }), key: digest } }
}

/** Options that name projects. */
export interface ProjectsPlace {
  /** `--file`. */
  readonly file?: string
  /** `--config`. */
  readonly config?: string
}

/**
 * The projects of the configuration, and the path of the projects file: `--file`, else what the environment or the
 * configuration says.
 *
 * @throws {ConfigError} the configuration is wrong.
 */
export async function findProjects({ file, config }: ProjectsPlace): Promise<{
  readonly configured: readonly Project[]
  readonly file: string | undefined
}> {
  const { projects, projectsFile } = await loadProjects(config)
  return { configured: projects, file: file ?? projectsFile }
}

/**
 * The same for a command that changes a project of the file.
 *
 * @throws {ProjectEditError} no file is named, or the project is in the configuration.
 */
export async function findProjectsFile(place: ProjectsPlace, projectId: string): Promise<string> {
  const { configured, file } = await findProjects(place)
  requireNotConfigured(configured, projectId)
  if (file !== undefined) return file
  throw new ProjectEditError(
    'No projects file is named; expected --file, or projectsFile in the configuration given by --config'
  )
}

/** @throws {ProjectEditError} the project is in the configuration, which no command changes. */
export function requireNotConfigured(configured: readonly Project[], projectId: string): void {
  if (!configured.some(project => project.projectId === projectId)) return
  throw new ProjectEditError(
    `Project "${projectId}" is in the configuration, which this command does not change; expected one of the projects file. ` +
      'Change the configuration and send the server a SIGHUP.'
  )
}
