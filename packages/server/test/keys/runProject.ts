import { vi } from 'vitest'
import { createProgram } from '../../src/server/cli/createProgram.ts'

/** What a `chain-data project` command wrote, and its exit code. */
export interface ProjectOutcome {
  readonly out: string
  readonly error: string
  readonly code: number
}

/**
 * Runs `chain-data project` in this process.
 *
 * @remarks One at a time: it listens to the standard streams of the process meanwhile.
 */
export async function runProject(...args: readonly string[]): Promise<ProjectOutcome> {
  let out = ''
  let error = ''
  const { exitCode } = process
  process.exitCode = 0
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(text => {
    out += text
    return true
  })
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => {
    error += text
    return true
  })
  try {
    const program = createProgram()
    for (const command of [
      program,
      ...program.commands,
      ...program.commands.flatMap(({ commands }) => commands)
    ]) {
      command.exitOverride()
    }
    await program.parseAsync(['node', 'chain-data', 'project', ...args])
    return { out, error, code: process.exitCode }
  } catch (failure) {
    // The parser's own refusals, which would end the process.
    if (!(failure instanceof Error && 'exitCode' in failure)) throw failure
    return { out, error, code: Number(failure.exitCode) }
  } finally {
    stdout.mockRestore()
    stderr.mockRestore()
    process.exitCode = exitCode
  }
}
