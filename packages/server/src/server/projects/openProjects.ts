import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { ConfigError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Project } from '../config/projectsSchema.ts'
import { createKeyRing, type KeyRing } from './createKeyRing.ts'
import { readProjectsFile } from './projectsFile.ts'

/** The projects that may call now, from the configuration and from the projects file. */
export interface LiveProjects {
  /** The keys in force; a reload replaces all of them at once. */
  readonly keyRing: KeyRing
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
  /** The problem that was logged last, while the file cannot be read. */
  let lastProblem: string | undefined
  // Before the file is read, or a change meanwhile would not be seen.
  const stopWatching =
    file === undefined
      ? () => {}
      : watchFile(file, { ...(options.watching ?? watching), onChange: reloadFile })
  const keyRing = createKeyRing([])
  const first = load(configured)
  // One after the other: the later one must win.
  let last: Promise<unknown> = first.catch(() => {})
  try {
    await first
  } catch (error) {
    stopWatching()
    throw error
  }

  async function load(projects: readonly Project[]): Promise<void> {
    const fromFile = file === undefined ? [] : await readFile(file)
    const ids = new Set(projects.map(({ projectId }) => projectId))
    const twice = fromFile.find(({ projectId }) => ids.has(projectId))
    if (twice !== undefined) {
      throw new ConfigError(
        `Project "${twice.projectId}" is in projects and in projectsFile "${file}"; expected it in one of them`
      )
    }
    keyRing.replace([...projects, ...fromFile])
  }

  function reload(projects?: readonly Project[]): Promise<void> {
    const reloaded = last.then(async () => {
      const next = projects ?? configured
      await load(next)
      configured = next
      onReload?.()
      logger.info('projects reloaded', { count: keyRing.counts().projects })
    })
    last = reloaded.catch(() => {})
    return reloaded
  }

  /** @returns false when the file could not be read, though it may be right: it is checked again. */
  async function reloadFile(): Promise<boolean> {
    try {
      await reload()
      lastProblem = undefined
      return true
    } catch (error) {
      const isUnread = error instanceof ConfigError && error.context.unread === true
      const problem = error instanceof ConfigError ? error.message : 'the projects file could not be used'
      // Once, however often it is checked.
      if (!isUnread || problem !== lastProblem) logger.error('projects not reloaded', { problem })
      lastProblem = isUnread ? problem : undefined
      return !isUnread
    }
  }

  return { keyRing, reload, close: stopWatching }
}

/**
 * Watches a file: whether it is written, replaced, made or removed.
 *
 * @param options.onChange - called after a change, once for several in a row; not called for what is there at first.
 *   Resolves to whether the file was read; where it was not, it is called again at the next check.
 * @param options.settleMs - after a sign of a change, so long until the file is checked.
 * @param options.pollMs - interval of checks without a sign: some file systems (networks, mounts in containers) give none.
 * @returns ends the watch. It never keeps the process alive.
 */
function watchFile(
  file: string,
  options: { readonly onChange: () => Promise<boolean>; readonly settleMs: number; readonly pollMs: number }
): () => void {
  const { onChange, settleMs, pollMs } = options
  let isClosed = false
  let settling: NodeJS.Timeout | undefined
  let seen = stateOf(file)

  // The folder, because a replaced file takes its own watch with it.
  let watcher: FSWatcher | undefined
  try {
    watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(file)) return
      settling ??= setTimeout(() => {
        settling = undefined
        check()
      }, settleMs).unref()
    })
    watcher.on('error', () => watcher?.close())
  } catch {
    // No such folder, or no watches left: the polls remain.
  }
  const poll = setInterval(check, pollMs).unref()

  function check(): void {
    const before = seen
    seen = before.then(async old => {
      const now = await stateOf(file)
      if (now === old || isClosed) return now
      return (await onChange()) ? now : unread
    })
  }

  return () => {
    isClosed = true
    watcher?.close()
    clearInterval(poll)
    clearTimeout(settling)
  }
}

/** No state of a file. */
const unread = 'unread'

/** Returns a text that differs for another file, or another state of it. */
async function stateOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join()
  } catch {
    return 'none'
  }
}
