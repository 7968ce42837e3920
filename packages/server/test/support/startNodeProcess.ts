import { spawn } from 'node:child_process'
import { patient } from '../../../../.config/patience.ts'
import { guardChild, stopChild } from '../../../devnet/src/platform/childGuard.ts'

/** A test node in a process of its own. */
export interface NodeProcess {
  readonly rpcUrl: string
  /** Ends the process; resolves once it is gone. */
  stop(): Promise<void>
}

const startTimeoutMs = patient(60_000)

/**
 * Runs a JavaScript program that serves JSON-RPC on a free port of this machine and says which.
 *
 * @param options.listening - finds host and port in what the program prints, as its first group.
 * @param options.folder - where the program runs.
 * @throws {Error} when it ends or stays silent; with the end of what it printed.
 */
export function startNodeProcess(
  script: string,
  parameters: readonly string[],
  options: {
    readonly listening: RegExp
    readonly folder: string
    readonly environment?: Readonly<Record<string, string>>
  }
): Promise<NodeProcess> {
  const child = spawn(process.execPath, [script, ...parameters], {
    cwd: options.folder,
    env: { ...process.env, NODE_OPTIONS: '', ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  guardChild(child)
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (why: string) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`the node ${why}: ${output.slice(-500).trim()}`))
    }
    const timer = setTimeout(() => fail('did not listen in time'), startTimeoutMs)
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const address = options.listening.exec(output)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      // Its log is not needed any more, but a full pipe would stop it.
      child.stdout.removeAllListeners('data').resume()
      child.stderr.removeAllListeners('data').resume()
      resolve({ rpcUrl: `http://${address}`, stop: () => stopChild(child) })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', error => fail(`could not be started (${error.message})`))
    child.once('close', code => fail(`ended with code ${code}`))
  })
}
