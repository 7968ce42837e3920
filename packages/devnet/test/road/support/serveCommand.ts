import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from './startRoad.ts'

const main = new URL('../../../../server/src/server/cli/main.ts', import.meta.url).pathname

/** The command `chain-data serve` as a process of its own. */
export interface ServeProcess {
  readonly pid: number
  /** Everything written so far. */
  readonly output: { readonly out: string; readonly err: string }
  /** Its log lines as objects; fails on a line that is not one. */
  logLines(): Record<string, unknown>[]
  /** Resolves with the address of its "listening" line. */
  listening(): Promise<string>
  /** Resolves with the address of its "operator pages" line. */
  operatorPages(): Promise<string>
  /** How it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void
}

/** Every process started in this test file: `afterEach` must end what a failed test left behind. */
const running = new Set<ServeProcess>()

/** Ends every process that is still there. */
export async function endServeProcesses(): Promise<void> {
  for (const child of running) child.kill('SIGKILL')
  await Promise.all([...running].map(({ ended }) => ended))
}

/** Runs `chain-data` with these arguments in a folder, with nothing of our own environment that configures it. */
export function startCommand(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> }
): ServeProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CHAIN_DATA_'))
  const child = spawn(
    process.execPath,
    ['--conditions=@chain-data/source', '--disable-warning=ExperimentalWarning', main, ...args],
    { cwd, env: { ...Object.fromEntries(inherited), ...env }, stdio: ['ignore', 'pipe', 'pipe'] }
  )
  const output = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    output.out += String(chunk)
  })
  child.stderr.on('data', chunk => {
    output.err += String(chunk)
  })
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(serving)
    return { code: code as number | null, signal: signal as string | null }
  })
  const logLines = () =>
    output.out
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Record<string, unknown>)
  const urlOf = (message: string) =>
    eventually(
      () => {
        const line = logLines().find(({ msg }) => msg === message)
        if (line !== undefined) return line.url as string
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output.err}`)
        return undefined
      },
      () => `the log to say "${message}": ${output.out}${output.err}`
    )
  const serving: ServeProcess = {
    pid: child.pid ?? -1,
    output,
    logLines,
    ended,
    kill: signal => void child.kill(signal),
    listening: () => urlOf('listening'),
    operatorPages: () => urlOf('operator pages')
  }
  running.add(serving)
  return serving
}

/** Writes a configuration into the folder and serves it. */
export async function startServe(
  config: object,
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> }
): Promise<ServeProcess> {
  await writeFile(join(cwd, 'chain-data.json'), JSON.stringify(config, null, 2))
  return startCommand(['serve', '--config', 'chain-data.json'], { cwd, env })
}
