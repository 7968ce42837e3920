import { formatSpread, type Spread, spread } from '../http/spread.ts'

/** One of those that are compared. */
export interface Contestant {
  readonly name: string
  /** Does the whole work once, from nothing. */
  run(): Promise<Outcome>
}

/** One run. Whoever counts transfers is compared by them, everybody else by transactions. */
export interface Outcome {
  readonly transactionsPerSecond?: number
  readonly transfersPerSecond?: number
  /** Whatever else is worth keeping; numbers of one name make a spread over the runs. */
  readonly details: Readonly<Record<string, number>>
}

/** What became of one contestant. */
export interface Compared {
  readonly name: string
  readonly transactionsPerSecond?: Spread
  readonly transfersPerSecond?: Spread
  readonly details: Readonly<Record<string, Spread>>
  readonly runs: readonly Outcome[]
}

/**
 * Lets all run in turn, round after round, so that other work on the machine meets each of them.
 * @returns in the order of `contestants`; the runs of one place belong to one round.
 */
export async function compareRates(
  contestants: readonly Contestant[],
  rounds: number,
  print: (line: string) => void
): Promise<readonly Compared[]> {
  const outcomes = contestants.map((): Outcome[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [place, contestant] of contestants.entries()) {
      const outcome = await contestant.run()
      outcomes[place]?.push(outcome)
      const rate = outcome.transactionsPerSecond ?? outcome.transfersPerSecond ?? Number.NaN
      print(`  round ${round + 1}: ${contestant.name.padEnd(32)} ${rate.toFixed(0)}/s`)
    }
  }
  return contestants.map(({ name }, place) => {
    const compared = summarize(name, outcomes[place] ?? [])
    const rates = [
      describe(compared.transactionsPerSecond, 'transactions/s'),
      describe(compared.transfersPerSecond, 'transfers/s')
    ]
    const details = Object.entries(compared.details).map(([what, of]) => `${what} ${formatSpread(of, 1)}`)
    print(`  ${name.padEnd(30)} ${[...rates.filter(text => text !== ''), ...details].join(', ')}`)
    return compared
  })
}

/** How many times as fast as `other` it was, by what both count; each ratio within a round. NaN: nothing in common. */
export function ratio(one: Compared | undefined, other: Compared | undefined): Spread {
  const ratios = (one?.runs ?? []).map((run, round) => {
    const against = other?.runs[round]
    return against?.transfersPerSecond !== undefined
      ? (run.transfersPerSecond ?? Number.NaN) / against.transfersPerSecond
      : (run.transactionsPerSecond ?? Number.NaN) / (against?.transactionsPerSecond ?? Number.NaN)
  })
  return spread(ratios)
}

/** A detail of one by that of another, each ratio within a round. */
export function detailRatio(one: Compared | undefined, other: Compared | undefined, what: string): Spread {
  const of = (run: Outcome | undefined) => run?.details[what] ?? Number.NaN
  return spread((one?.runs ?? []).map((run, round) => of(run) / of(other?.runs[round])))
}

function summarize(name: string, runs: readonly Outcome[]): Compared {
  const of = (read: (run: Outcome) => number | undefined) => {
    const values = runs.map(read).filter(value => value !== undefined)
    return values.length === 0 ? undefined : spread(values)
  }
  const transactionsPerSecond = of(run => run.transactionsPerSecond)
  const transfersPerSecond = of(run => run.transfersPerSecond)
  const names = Object.keys(runs[0]?.details ?? {})
  return {
    name,
    ...(transactionsPerSecond === undefined ? {} : { transactionsPerSecond }),
    ...(transfersPerSecond === undefined ? {} : { transfersPerSecond }),
    details: Object.fromEntries(
      names.map(what => [what, spread(runs.map(run => run.details[what] ?? Number.NaN))])
    ),
    runs
  }
}

function describe(rate: Spread | undefined, unit: string): string {
  return rate === undefined ? '' : `${formatSpread(rate)} ${unit}`
}
