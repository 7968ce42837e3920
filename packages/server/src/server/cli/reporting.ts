import { ConfigError } from '../../platform/errors.ts'
import { ProjectEditError } from '../projects/editProjects.ts'
import { InitError } from './readTargets.ts'
import { configErrorExit } from './terminal.ts'

const refusedExit = 1

/** Runs the command, and words what it throws on standard error. */
export function reporting<A extends unknown[]>(
  run: (...args: A) => Promise<void>
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await run(...args)
    } catch (error) {
      const isConfig = error instanceof ConfigError
      const isRefusal = error instanceof ProjectEditError || error instanceof InitError
      if (!isConfig && !isRefusal) throw error
      process.stderr.write(`${isConfig ? 'Configuration error:\n' : ''}${error.message}\n`)
      process.exitCode = isConfig ? configErrorExit : refusedExit
    }
  }
}
