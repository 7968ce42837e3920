import { openAbortScope } from './abortScope.ts'
import type { Asked, Verdict } from './pieceOfWork.ts'
import type { Upstream } from './upstream.ts'

export interface RaceOptions<T> {
  readonly first: Upstream
  /** Chosen when it is needed; `undefined` for nobody. */
  second(): Upstream | undefined
  /** How long the first one has the work alone. */
  readonly afterMs: number
  readonly signal: AbortSignal
  run(upstream: Upstream, signal: AbortSignal): Promise<Verdict<T>>
}

/**
 * A read that takes long is given to a second upstream as well; the first sound answer wins and the other is called off.
 * @returns the verdicts there are: the winner alone, or all that were fruitless.
 */
export async function raceTwo<T>({
  first,
  second,
  afterMs,
  signal,
  run
}: RaceOptions<T>): Promise<readonly Asked<T>[]> {
  const scopes = [openAbortScope([signal]), openAbortScope([signal])] as const
  let timer: NodeJS.Timeout | undefined
  try {
    const firstAsked = run(first, scopes[0].signal).then(verdict => ({ upstream: first, verdict }))
    const tooLong = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), afterMs)
    })
    const early = await Promise.race([firstAsked, tooLong])
    if (early !== undefined) return [early]
    const other = second()
    if (other === undefined) return [await firstAsked]
    other.counts.hedgeSent()
    const secondAsked = run(other, scopes[1].signal).then(verdict => ({ upstream: other, verdict }))
    const winner = await Promise.race([sound(firstAsked), sound(secondAsked), both(firstAsked, secondAsked)])
    if (winner === undefined) return [await firstAsked, await secondAsked]
    if (winner.upstream === other) other.counts.hedgeWon()
    return [winner]
  } finally {
    clearTimeout(timer)
    for (const scope of scopes) scope.end()
  }
}

/** Resolves with a sound answer only; stays open for any other. */
function sound<T>(asked: Promise<Asked<T>>): Promise<Asked<T>> {
  return new Promise(resolve => {
    void asked.then(one => {
      if (one.verdict.kind === 'value' || one.verdict.kind === 'final') resolve(one)
    })
  })
}

/** Once both have ended; a sound one among them has been taken by then. */
async function both(...asked: Promise<unknown>[]): Promise<undefined> {
  await Promise.all(asked)
  return undefined
}
