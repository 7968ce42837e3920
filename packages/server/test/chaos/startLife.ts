import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { guardChild } from '../../../devnet/src/platform/childGuard.ts'
import type { Deed, LifePlan } from './indexerLife.ts'

/** How a life ended. */
export interface Death {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  /** In what it killed itself; absent when it was ended from outside. */
  readonly in?: Deed
  /** In what it had lost its database before; absent when it had not. */
  readonly lostIn?: Deed
  /** What it printed as errors. */
  readonly errors: string
}

export interface Life {
  /** Resolves when it has all blocks, follows the chain at this block, and has looked at the pool, or has died. */
  follows(hash: string): Promise<void>
  /** Ends a life as soon as it follows the chain at this block. */
  killAt(hash: string): void
  kill(signal: 'SIGKILL' | 'SIGTERM'): void
  readonly death: Promise<Death>
}

/** Starts `indexerLife.ts` as a process of its own. */
export function startLife(plan: LifePlan): Life {
  const program = fileURLToPath(new URL('indexerLife.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=@chain-data/source', program, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  guardChild(child)
  let output = ''
  let errors = ''
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    for (const listener of listeners) listener()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const death = new Promise<Death>((resolve, reject) => {
    child.once('error', reject)
    // Not `exit`: the last words may still be in the pipe.
    child.once('close', (code, signal) => {
      const deed = /^dies in (\w+)$/m.exec(output)?.[1] as Deed | undefined
      const lostIn = /^loses its database in (\w+)$/m.exec(output)?.[1] as Deed | undefined
      resolve({
        ...{ code, signal, errors },
        ...(deed === undefined ? {} : { in: deed }),
        ...(lostIn === undefined ? {} : { lostIn })
      })
    })
  })
  const whenFollowing = (hash: string, then: () => void) => {
    const listener = () => {
      if (output.includes(`is following at ${hash}\n`)) then()
    }
    listeners.add(listener)
    listener()
  }
  return {
    async follows(hash) {
      await Promise.race([death, new Promise<void>(resolve => whenFollowing(hash, resolve))])
    },
    killAt: hash => whenFollowing(hash, () => child.kill('SIGKILL')),
    kill: signal => void child.kill(signal),
    death
  }
}
