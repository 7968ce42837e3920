import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The command as it is in the sources. */
export const mainFile = fileURLToPath(new URL('../../src/server/cli/main.ts', import.meta.url))

/** A `chain-data` command in a process of its own. */
export interface RunningCommand {
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
  /** The lines written to standard output so far that are JSON. */
  logLines(): Record<string, unknown>[]
  /** Exit code; `null` when a signal ended it. Rejects where Node printed a warning. */
  readonly ended: Promise<number | null>
}

/**
 * @param environment - all that the command sees, besides what every process needs.
 * @param cwd - absent: that of the tests.
 */
export function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd?: string
): RunningCommand {
  const child = spawn(process.execPath, ['--conditions=@chain-data/source', mainFile, ...args], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...environment
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    logLines: () =>
      stdout
        .split('\n')
        .filter(line => line.startsWith('{') && line.endsWith('}'))
        .map(line => JSON.parse(line)),
    ended: once(child, 'close').then(([code]) => {
      const [warning] = /^\(node:\d+\) .*Warning: .*$/m.exec(stderr) ?? []
      if (warning !== undefined) throw new Error(`Node warned: ${warning}`)
      return code as number | null
    })
  }
}
