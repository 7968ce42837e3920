import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/** A worker that runs in workerd, the runtime behind Cloudflare Workers, and answers on loopback. */
export interface RunningWorker extends AsyncDisposable {
  readonly url: string
}

/**
 * The workerd binary of the platform's own package, which needs no install script. `npm run test:apart` installs it.
 *
 * @returns `undefined` where there is none for this platform.
 */
export function findWorkerd(): string | undefined {
  const fromApart = createRequire(new URL('../../../../.ci/apart/package.json', import.meta.url))
  const { platform, arch } = process
  const name = `@cloudflare/workerd-${platform === 'win32' ? 'windows' : platform}-${arch === 'x64' ? '64' : arch}`
  try {
    const fromWorkerd = createRequire(fromApart.resolve('workerd'))
    const binary = fromWorkerd.resolve(`${name}/bin/workerd${platform === 'win32' ? '.exe' : ''}`)
    return existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}

/** Private addresses are allowed: the service under test listens on loopback, which workers may not reach. */
const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2025-01-01"
    )),
    (name = "internet", network = (allow = ["public", "private"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
`

/**
 * Starts a worker and waits until it listens.
 *
 * @param script - An ES module with a default export that has `fetch`.
 */
export async function startWorker(binary: string, script: string): Promise<RunningWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-workerd-'))
  await writeFile(join(folder, 'worker.js'), script)
  await writeFile(join(folder, 'config.capnp'), config)
  const child = spawn(binary, ['serve', 'config.capnp', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe']
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const port = await readPort(child.stdio[3] as Readable, ended)
    return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** workerd tells the port it was given as one line of JSON on the control descriptor. */
function readPort(control: Readable, ended: Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    let seen = ''
    control.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk
      const port = /"event":"listen".*?"port":(\d+)/.exec(seen)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    ended.then(() => reject(new Error(`workerd ended before it listened: ${seen}`)), reject)
  })
}
