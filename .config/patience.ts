import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'

/** What the work below takes from start to end, in milliseconds, on an idle machine of the usual speed. */
const usualMs = 300
const work = 'let text = ""; for (let i = 0; i < 8e5; i++) text = JSON.stringify(JSON.parse("[" + i + "]"))'
/** Beyond this the machine is of no use for tests. */
const maxSlowness = 20

/**
 * Measures how many times longer a program takes on this machine just now than on an idle one of the usual speed: as
 * many programs as there are cores do a fixed piece of work.
 *
 * @returns 1 to 20.
 */
export async function measureSlowness(): Promise<number> {
  const start = performance.now()
  const run = () => once(spawn(process.execPath, ['-e', work], { stdio: 'ignore' }), 'close')
  await Promise.all(Array.from({ length: availableParallelism() }, run))
  const slowness = (performance.now() - start) / usualMs
  return Math.min(maxSlowness, Math.max(1, slowness))
}

/**
 * Makes a time limit longer by how slow the machine was when the run began. Limits of tests are for what hangs, and are
 * given as they are on an idle machine.
 */
export const patient = (limitMs: number): number =>
  Math.round(limitMs * Number(process.env.TEST_SLOWNESS ?? 1))
