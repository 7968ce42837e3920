import { spawn } from 'node:child_process'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { guardChild } from '../../../devnet/src/platform/childGuard.ts'
import { isFull } from '../chaos/chaosSizes.ts'
import { simulate } from './simulate.ts'

/** `SEED=<number>` repeats one seed alone. */
const only = process.env.SEED === undefined ? undefined : Number(process.env.SEED)
const [first, count] = only === undefined ? [1, isFull ? 100_000 : 300] : [only, 1]
/** In `npm test` other files run beside this one. */
const processes = Math.min(count, isFull ? availableParallelism() : 1)
const program = fileURLToPath(new URL('simulateSeeds.ts', import.meta.url))

/** Runs some seeds in a process of its own. @returns what it printed. */
function simulateApart(from: number, seeds: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--conditions=@chain-data/source', program, String(from), String(seeds)],
      { stdio: ['ignore', 'pipe', 'inherit'] }
    )
    guardChild(child)
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    child.once('error', reject)
    child.once('close', () => resolve(printed))
  })
}

it(
  'whatever chain, node and disk do, no answer is wrong, and in the end everything is answered',
  async () => {
    const share = Math.ceil(count / processes)
    const parts = Array.from({ length: processes }, (_, i) =>
      simulateApart(first + i * share, Math.min(share, count - i * share))
    )
    const printed = await Promise.all(parts)
    const counts: Record<string, number> = { seeds: 0 }
    for (const text of printed) {
      const last = text.trimEnd().split('\n').at(-1) ?? ''
      expect(last, text).toMatch(/^\{"failures":0,/)
      for (const [name, times] of Object.entries(JSON.parse(last) as Record<string, number>)) {
        counts[name] = (counts[name] ?? 0) + times
      }
    }
    const text = Object.entries(counts).map(([name, times]) => `${name} ${times}`)
    process.stdout.write(`simulator: ${text.join(', ')}\n`)
    if (only !== undefined) return
    // A simulation in which nothing happens shows nothing.
    const rare = [
      'CURSOR_REORGED',
      'UPSTREAM_UNAVAILABLE',
      'kills',
      'fails',
      'unheard',
      'slow',
      'full',
      'flips',
      'lost rows',
      'partial',
      'INDEX_DAMAGED',
      'rollbacks',
      'log right',
      'log expired'
    ]
    expect(rare.filter(name => !((counts[name] ?? 0) >= count / 100))).toEqual([])
    expect(counts.seeds).toBe(count)
  },
  patient(isFull ? 4 * 3_600_000 : 300_000)
)

it('one seed gives the same trace twice, and another seed another one', async () => {
  const run = (seed: number, times: number) => simulate(seed, join(tmpdir(), `simulator-${seed}-${times}`))
  const [once, again, other] = [await run(3, 1), await run(3, 2), await run(4, 1)]
  expect(once.trace.length).toBeGreaterThan(50)
  expect(again.trace).toEqual(once.trace)
  expect(again.digest).toBe(once.digest)
  expect(other.digest).not.toBe(once.digest)
})

// A row of a block below the index came back, and kept the older blocks out.
it.each([43_698])('seed %i, which failed once, comes to rest', async number => {
  const { trace } = await simulate(number, join(tmpdir(), `simulator-${number}`))
  expect(trace.length).toBeGreaterThan(50)
})
