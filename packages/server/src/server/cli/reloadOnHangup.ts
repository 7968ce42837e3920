import { closeSync, openSync } from 'node:fs'
import { ConfigError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { loadProjects } from '../config/config.ts'
import type { Server } from '../start/createServer.ts'

/**
 * On SIGHUP the projects of the configuration and of the projects file are read again; the rest of the configuration is
 * not. What is wrong in them is logged, and the keys in force stay. Where the signal says that the terminal was closed,
 * it asks the process to end, as it does by default.
 *
 * @param options.file - of the configuration; absent: the environment alone.
 */
export function reloadOnHangup(options: {
  readonly file: string | undefined
  readonly starting: Promise<Pick<Server, 'reloadProjects'>>
  readonly logger: Logger
}): void {
  const { file, starting, logger } = options
  // One after the other, or an older file could win.
  let last: Promise<void> = Promise.resolve()
  process.on('SIGHUP', () => {
    if (process.stdin.isTTY && !hasTerminal()) process.kill(process.pid, 'SIGTERM')
    else last = last.then(reload)
  })

  async function reload(): Promise<void> {
    try {
      const server = await starting
      const { projects } = await loadProjects(file)
      await server.reloadProjects(projects)
    } catch (error) {
      logger.error('projects not reloaded', {
        problem: error instanceof ConfigError ? error.message : 'the server did not start'
      })
    }
  }
}

/** Whether the terminal that the process was started from is still there. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
