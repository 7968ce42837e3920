import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { patient } from '../../.config/patience.ts'
import { type PageModule, placeInModule } from './joinModules.ts'
import { type Problem, placeOf } from './readBlocks.ts'
import type { Outcome, Task } from './run/runPage.ts'
import type { Addresses } from './withAddresses.ts'

const program = fileURLToPath(new URL('run/runPage.ts', import.meta.url))

/** What a run says of one module. */
export interface ModuleRun {
  readonly module: PageModule
  /** What it printed. */
  readonly output: string
  readonly problem?: Problem
}

/**
 * Runs modules of one page, one after another, in a process and an empty folder of their own.
 *
 * @param timeoutMs - For all of them; the one that is under way then has failed.
 */
export async function runModules(
  modules: readonly PageModule[],
  addresses: Addresses,
  timeoutMs = patient(100_000)
): Promise<ModuleRun[]> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-page-'))
  const child = fork(program, {
    cwd: folder,
    execArgv: ['--conditions=@chain-data/source', '--no-warnings'],
    // As pages have it where a key comes from the environment.
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      CHAIN_DATA_KEY: 'demo-server-key',
      CHAIN_DATA_SERVER_KEY: 'demo-server-key'
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  const killer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const ended = once(child, 'exit')
  try {
    const runs: ModuleRun[] = []
    for (const module of modules) {
      const { output, error } = await ask(child, { path: module.path, source: module.source, addresses })
      const problem = error === undefined ? undefined : toProblem(module, error)
      runs.push({ module, output, ...(problem === undefined ? {} : { problem }) })
    }
    return runs
  } finally {
    if (child.connected) child.disconnect()
    await ended
    clearTimeout(killer)
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** What comes of one module; the process may end meanwhile. */
async function ask(child: ChildProcess, task: Task): Promise<Outcome> {
  if (!child.connected) return { output: '', error: 'a block before it ended the process' }
  let printed = ''
  const read = (chunk: Buffer) => {
    printed += chunk
  }
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const onClose = (code: number | null, signal: string | null) =>
    resolve({ output: '', error: `its process ended with ${signal ?? code}: ${printed.slice(-2000)}` })
  child.stderr!.on('data', read)
  child.once('message', resolve).once('close', onClose)
  child.send(task)
  const outcome = await promise
  child.stderr!.off('data', read)
  child.off('message', resolve).off('close', onClose)
  return outcome
}

/** Points at the line of the page that the stack names. */
function toProblem(module: PageModule, error: string): Problem {
  const [, rest] = error.split(`${module.path}:`)
  const line = Number.parseInt(rest ?? '', 10)
  const at = Number.isNaN(line) ? placeOf(module.blocks.at(-1)!) : placeInModule(module, line)
  return { at, message: error }
}
