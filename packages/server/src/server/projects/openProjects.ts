import { ConfigError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Project } from '../config/projectsSchema.ts'
import { createKeyRing, type KeyRing } from './createKeyRing.ts'
import { readProjectsFile } from './readProjectsFile.ts'
import { watchFile } from './watchFile.ts'

/** The projects that may call now, from the configuration and from the projects file. */
export interface LiveProjects {
  /** The keys in force; another ring after each reload. */
  keyRing(): KeyRing
  /**
   * Reads the projects file again and takes these projects in place of the configured ones. All or nothing.
   *
   * @param configured - absent: the configured ones stay.
   * @throws {ConfigError} what is wrong; the keys in force stay as they are.
   */
  reload(configured?: readonly Project[]): Promise<void>
  /** Stops watching the file. */
  close(): void
}

const watching = { settleMs: 100, pollMs: 5_000 }

/**
 * Reads the projects and keeps watching their file. What is wrong in a changed file is logged, and the keys in force stay.
 *
 * @param options.file - path of the projects file; absent: there is none.
 * @param options.onReload - called after each reload.
 * @param options.readFile - absent: `readProjectsFile`.
 * @throws {ConfigError} the file is wrong, or has a project that the configuration has too.
 */
export async function openProjects(options: {
  readonly configured: readonly Project[]
  readonly file: string | undefined
  readonly logger: Logger
  readonly onReload?: () => void
  readonly watching?: { readonly settleMs: number; readonly pollMs: number }
  readonly readFile?: typeof readProjectsFile
}): Promise<LiveProjects> {
  const { file, logger, onReload, readFile = readProjectsFile } = options
  let configured = options.configured
  /** Why the file could not be read when it was looked at last. */
  let told: string | undefined
  // Before the file is read, or a change meanwhile would not be seen.
  const stopWatching =
    file === undefined
      ? () => {}
      : watchFile(file, { ...(options.watching ?? watching), onChange: reloadFile })
  const first = load(configured)
  // One after the other: the later one must win.
  let last: Promise<unknown> = first.catch(() => {})
  let keyRing: KeyRing
  try {
    keyRing = await first
  } catch (error) {
    stopWatching()
    throw error
  }

  async function load(projects: readonly Project[]): Promise<KeyRing> {
    const fromFile = file === undefined ? [] : await readFile(file)
    const ids = new Set(projects.map(({ projectId }) => projectId))
    const twice = fromFile.find(({ projectId }) => ids.has(projectId))
    if (twice !== undefined) {
      throw new ConfigError(
        `Project "${twice.projectId}" is in projects and in projectsFile "${file}"; expected it in one of them`
      )
    }
    return createKeyRing([...projects, ...fromFile])
  }

  function reload(projects?: readonly Project[]): Promise<void> {
    const reloaded = last.then(async () => {
      const next = projects ?? configured
      keyRing = await load(next)
      configured = next
      onReload?.()
      logger.info('projects reloaded', { count: keyRing.counts.projects })
    })
    last = reloaded.catch(() => {})
    return reloaded
  }

  /** @returns false when the file could not be read, though it may be right: it is looked at again. */
  async function reloadFile(): Promise<boolean> {
    try {
      await reload()
      told = undefined
      return true
    } catch (error) {
      const isUnread = error instanceof ConfigError && error.context.unread === true
      const problem = error instanceof ConfigError ? error.message : 'the projects file could not be used'
      // Once, however often it is looked at.
      if (!isUnread || problem !== told) logger.error('projects not reloaded', { problem })
      told = isUnread ? problem : undefined
      return !isUnread
    }
  }

  return { keyRing: () => keyRing, reload, close: stopWatching }
}
