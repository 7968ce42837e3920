import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from '../support/indexHarness.ts'
import { mainFile, type RunningCommand, runCommand } from './runCommand.ts'

let folder: string
const running: RunningCommand[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-shutdown-'))
})
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  await rm(folder, { recursive: true, force: true })
})

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s while the program is still being loaded ends it with exit code 0',
  async signal => {
    // A module that is loaded before all others tells when the first line of the command has run.
    const hook = join(folder, 'hook.mjs')
    await writeFile(
      hook,
      `import { registerHooks } from 'node:module'
     registerHooks({
       load(url, context, next) {
         if (url.endsWith('/createProgram.ts')) {
           process.stdout.write('loading')
           Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
         }
         return next(url, context)
       }
     })`
    )
    const child = spawn(
      process.execPath,
      ['--conditions=@chain-data/source', '--import', pathToFileURL(hook).href, mainFile, 'serve'],
      {
        env: {
          PATH: process.env.PATH ?? '',
          TMPDIR: folder,
          CHAIN_DATA_PORT: '0',
          CHAIN_DATA_STORE: 'sqlite::memory:',
          CHAIN_DATA_PROJECT: 'demo:key',
          CHAIN_DATA_EVM_5: 'http://127.0.0.1:1'
        },
        stdio: ['ignore', 'pipe', 'inherit']
      }
    )
    const closed = once(child, 'close')
    await once(child.stdout, 'data')
    child.kill(signal)
    const [code, endedBy] = await closed
    expect([code, endedBy]).toEqual([0, null])
  }
)

it('a signal breaks off any other command as the system does', async () => {
  const config = join(folder, 'slow.mjs')
  await writeFile(
    config,
    "process.stdout.write('reading')\nawait new Promise(resolve => setTimeout(resolve, 60_000))"
  )
  const command = runCommand(['status', '--config', config])
  running.push(command)
  await eventually('it reads its configuration', () => command.stdout().includes('reading'))
  command.child.kill('SIGTERM')
  expect(await command.ended).toBe(null)
})
