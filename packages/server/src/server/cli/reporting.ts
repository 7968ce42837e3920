import { inspect } from 'node:util'
import { ConfigError } from '../../platform/errors.ts'
import { ProjectEditError } from '../projects/editProjects.ts'

/** Exit code of a wrong configuration, for every command. */
export const configErrorExit = 2
/** Exit code of a command that cannot do what it was asked for. */
const refusedExit = 1

/** A command cannot do what it was asked for. The message is safe for a terminal, and says the next step where there is one. */
export class CommandError extends Error {
  readonly exitCode: number

  /** @param exitCode - 1 by default. */
  constructor(message: string, exitCode = refusedExit) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Runs the command, and words what it throws on standard error.
 *
 * @param failedExit - exit code of every failure, a bug too, which is shown with its stack; absent: bugs are thrown on.
 */
export function reporting<A extends unknown[]>(
  run: (...args: A) => Promise<void>,
  failedExit?: number
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await run(...args)
    } catch (error) {
      const isRefusal = error instanceof CommandError || error instanceof ProjectEditError
      const isKnown = isRefusal || error instanceof ConfigError
      if (!isKnown && failedExit === undefined) throw error
      process.stderr.write(`${isKnown ? wordsOf(error) : inspect(error)}\n`)
      process.exitCode = failedExit ?? exitOf(error)
    }
  }
}

/** Words an error for a person at the terminal. */
export function wordsOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return error instanceof ConfigError ? `Configuration error:\n${text}` : text
}

function exitOf(error: unknown): number {
  if (error instanceof ConfigError) return configErrorExit
  return error instanceof CommandError ? error.exitCode : refusedExit
}
