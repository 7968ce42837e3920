import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** A process of the benchmark. */
export interface Child {
  /** Sends a message and waits for the next one back. */
  ask<Reply>(message: unknown): Promise<Reply>
  /** The message that it sends by itself once it is ready. */
  readonly first: Promise<unknown>
  readonly pid: number
  stop(): Promise<void>
}

const taskset = '/usr/bin/taskset'
/** Processes can be kept on one core each: what they take from each other is then the same in every run. */
export const canPin = existsSync(taskset) && availableParallelism() >= 2

/** Starts `script`, relative to this folder; with `core`, where possible on that one only. */
export function startChild(script: string, words: readonly string[], core?: number): Child {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const node = ['--conditions=@chain-data/source', ...extraArguments()]
  const child: ChildProcess =
    canPin && core !== undefined
      ? fork(path, [...words], {
          execPath: taskset,
          execArgv: ['-c', String(core), process.execPath, ...node]
        })
      : fork(path, [...words], { execArgv: node })
  const ended = once(child, 'exit')
  const gone = ended.then(([code]) => {
    throw new Error(`${script} ended with code ${code}`)
  })
  gone.catch(() => {})
  const nextMessage = () =>
    Promise.race([once(child, 'message').then(([message]) => message as unknown), gone])
  const first = nextMessage()
  first.catch(() => {})
  return {
    first,
    pid: child.pid ?? 0,
    async ask<Reply>(message: unknown) {
      const reply = nextMessage()
      child.send(message as object)
      return (await reply) as Reply
    },
    async stop() {
      child.disconnect()
      await ended
    }
  }
}

/** For a profile of the children: CHAIN_DATA_BENCH_NODE_ARGUMENTS="--cpu-prof". */
function extraArguments(): readonly string[] {
  return (process.env.CHAIN_DATA_BENCH_NODE_ARGUMENTS ?? '').split(' ').filter(word => word !== '')
}
