import { countOf } from '../report/Report.ts'
import { listChecks, runConformance } from '../runConformance.ts'
import { createProgress, type ProgressOutput } from './createProgress.ts'
import { formatReport } from './formatReport.ts'
import { readOptions, usage } from './readOptions.ts'

/** What the command gets from its surroundings. */
export interface CliSurroundings {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: { write(text: string): unknown }
  /** Progress goes here, so that a report can be piped. */
  readonly stderr: ProgressOutput
}

/**
 * The whole command.
 *
 * @returns Its exit code: 0 nothing failed, 1 something did, 2 wrong usage.
 */
export async function runCli({ args, env, stdout, stderr }: CliSurroundings): Promise<number> {
  const command = readOptions(args, env)
  switch (command.kind) {
    case 'wrong':
      stderr.write(`${command.message}\n\n${usage}`)
      return 2
    case 'help':
      stdout.write(usage)
      return 0
    case 'list':
      stdout.write(formatList(command.only, command.json))
      return 0
  }
  const { options, json } = command
  if (!listChecks().some(({ name }) => options.only?.(name))) {
    stderr.write('no check has a name that fits; --list shows them\n')
    return 2
  }
  const progress = createProgress(stderr)
  const report = await runConformance({
    ...options,
    onResult: (_result, done, total) => progress.update(done, total)
  }).finally(() => progress.stop())
  stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report))
  return countOf(report, 'failed') === 0 ? 0 : 1
}

function formatList(only: (name: string) => boolean, json: boolean): string {
  const checks = listChecks().filter(({ name }) => only(name))
  if (json) return `${JSON.stringify(checks, null, 2)}\n`
  return checks
    .map(
      ({ name, shows, extension }) =>
        `${name}${extension === undefined ? '' : ` (${extension})`}\n  ${shows}\n`
    )
    .join('')
}
