/**
 * A program of its own, because it replaces the clocks of its process: simulates seeds one after the other. Arguments: the first
 * seed, and how many. Prints each failure with its trace, and then a line with counts.
 */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { simulate } from './simulate.ts'

/** In memory where the system has such a folder: what is lost with a machine is simulated, and fsync only costs time. */
const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const first = Number(process.argv[2])
const count = Number(process.argv[3])
/** Events before a failure that are printed. */
const shownEvents = 60
/** More failures are most likely the same one. */
const maxFailures = 5

const total: Record<string, number> = { seeds: 0 }
let failures = 0
for (let seed = first; seed < first + count && failures < maxFailures; seed++) {
  const { failure, trace, counts } = await simulate(seed, join(folder, `simulator-${process.pid}-${seed}`))
  total.seeds = (total.seeds ?? 0) + 1
  for (const [name, times] of Object.entries(counts)) total[name] = (total[name] ?? 0) + times
  if (failure !== undefined) {
    failures++
    const shown = process.env.TRACE === 'whole' ? trace : trace.slice(-shownEvents)
    const repeat = `SEED=${seed} npm test -- packages/server/test/simulator`
    process.stdout.write(
      `seed ${seed} fails. Its last events:\n${shown.join('\n')}\n${failure}\nrepeat: ${repeat}\n`
    )
  }
  await nextTurn()
}
process.stdout.write(`${JSON.stringify({ failures, ...total })}\n`)
process.exitCode = failures === 0 ? 0 : 1
