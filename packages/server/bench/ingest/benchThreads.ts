import { formatSpread, spread } from '../http/spread.ts'
import { type Compared, ratio } from './compareRates.ts'
import { createOurs } from './contestants.ts'
import { fillInTurn } from './fillInTurn.ts'

/** Fills SQLite indexes from the recording with 0, 1 and 2 threads that decode, in turn. */
export async function benchThreads(print: (line: string) => void): Promise<object> {
  const [none, one, two] = await fillInTurn(print, (node, openStore) =>
    [0, 1, 2].map(threads =>
      createOurs(`${threads} threads`, node, openStore, { server: { indexing: { threads } } })
    )
  )
  const figures = {
    'rate, 1 thread / 0': ratio(one, none),
    'rate, 2 threads / 1': ratio(two, one),
    'largest share of the decoding, 2 threads': largestShare(two)
  }
  for (const [what, of] of Object.entries(figures)) print(`  ${what}: ${formatSpread(of, 2)}`)
  return figures
}

/** Returns the share that the busiest thread has of the processor time of all threads that decode. */
function largestShare(compared: Compared | undefined) {
  return spread(
    (compared?.runs ?? []).map(({ details }) => {
      const times = Object.entries(details).flatMap(([name, time]) => (/^decoder/.test(name) ? [time] : []))
      return Math.max(...times) / times.reduce((sum, time) => sum + time, 0)
    })
  )
}
