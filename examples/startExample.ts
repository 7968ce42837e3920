import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

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
 * @param main - Path of the program.
 * @param environment - Beside what every process needs; the port is a free one.
 * @throws It ended first; with what it printed.
 */
export async function startExample(
  main: string,
  environment: Readonly<Record<string, string>>
): Promise<RunningExample> {
  const child = spawn(process.execPath, ['--conditions=@chain-data/source', main], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (text: string) => {
      output += text
      const found = /^http:\/\/\S+$/m.exec(output)
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

/** Waits until a service says that its first backfill is complete. @throws It does not within half a minute. */
export async function whenReady(baseUrl: string): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const response = await fetch(`${baseUrl}/health/ready`)
    const text = await response.text()
    if (response.status === 200) return
    if (performance.now() > deadline)
      throw new Error(`not ready in time, but HTTP ${response.status}: ${text}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
