import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { patient } from '../.config/patience.ts'

/** The packages of this repository are used as they are, without having been built. */
export const sourceConditions = '--conditions=@chain-data/source'

/** An example that runs as its reader would start it. */
export interface RunningExample {
  readonly child: ChildProcess
  /** Where it listens, as it printed. */
  readonly url: string
  /** Asks it to end. @returns its exit code; null when a signal ended it. */
  stop(): Promise<number | null>
}

/**
 * Starts a program and waits until it has printed an address.
 *
 * @param command - Path of the program and its arguments.
 * @param folder - Where it is started.
 * @param environment - Beside what every process needs; the port is a free one.
 * @throws It ended first; with what it printed.
 */
export async function startExample(
  command: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>
): Promise<RunningExample> {
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_ENV: 'production',
      PORT: '0',
      NODE_OPTIONS: sourceConditions,
      ...environment
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (text: string) => {
      output += text
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)
      if (found) resolve(found[0])
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    ended.then(code => reject(new Error(`it ended with ${code}: ${output}`)), reject)
  })
  return {
    child,
    url,
    stop() {
      child.kill('SIGTERM')
      return ended
    }
  }
}

/** Waits until a service says that its first backfill is complete. @throws It does not in time. */
export async function whenReady(baseUrl: string): Promise<void> {
  const deadline = performance.now() + patient(30_000)
  for (;;) {
    const response = await fetch(`${baseUrl}/health/ready`)
    const text = await response.text()
    if (response.status === 200) return
    if (performance.now() > deadline)
      throw new Error(`not ready in time, but HTTP ${response.status}: ${text}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
