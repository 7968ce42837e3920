import { openAbortScope } from './deadline.ts'

/**
 * Asks for the same answer as the other contenders.
 *
 * @param signal - aborts with {@link lostRace} when another one has answered, or with the reason of the race's signal.
 * @param onStart - to be called when the request leaves, not while it is queued: the delay before the next one
 *   starts then.
 */
type Contender<T> = (signal: AbortSignal, onStart: () => void) => Promise<T>

/** Contenders, and how they are started. */
export interface StaggeredRace<T> {
  /** At least one. The next one is taken only when it is needed. */
  readonly contenders: Iterable<Contender<T>>
  /** Time after the start of one contender at which the next one starts, too. */
  readonly staggerMs: number
  readonly signal: AbortSignal
  /** Returns false for an answer that counts only if no other contender gives a better one. */
  readonly isFinal: (answer: T) => boolean
  /** Called for each contender, by its index, that started before the winner and has not answered. */
  readonly onOvertaken?: (index: number) => void
}

/** The reason for which the losers of a race are aborted. */
export const lostRace = new Error('another contender has answered')

/**
 * Starts contenders one after the other: the next one when the one before fails, gives an answer that is not final, or
 * does not answer for a while. The first final answer wins, and all others are aborted.
 *
 * @returns the final answer; without one, the earliest of the others.
 * @throws {AggregateError} all failures, in the order of their arrival, if there was no answer.
 * @throws the reason of `signal`.
 * @see RFC 8305, which does this with the addresses of a host
 */
export function raceStaggered<T>(race: StaggeredRace<T>): Promise<T> {
  const { staggerMs, isFinal, onOvertaken } = race
  const scope = openAbortScope([race.signal])
  const { signal } = scope
  return new Promise((resolve, reject) => {
    const waiting = race.contenders[Symbol.iterator]()
    const started: number[] = []
    const running = new Set<number>()
    const answers: T[] = []
    const failures: unknown[] = []
    let timer: NodeJS.Timeout | undefined
    let count = 0

    /** @returns false when there is none left. */
    const startNext = (): boolean => {
      clearTimeout(timer)
      const { value: contender, done } = waiting.next()
      if (done) return false
      const index = count++
      running.add(index)
      const onStart = () => {
        started.push(index)
        clearTimeout(timer)
        timer = setTimeout(startNext, staggerMs)
      }
      contender(signal, onStart).then(
        answer => settle(index, () => takeAnswer(index, answer)),
        (failure: unknown) => settle(index, () => failures.push(failure))
      )
      return true
    }
    const settle = (index: number, take: () => void) => {
      running.delete(index)
      if (signal.aborted) return
      take()
      if (signal.aborted || startNext() || running.size > 0) return
      if (answers.length > 0) resolve(answers[0] as T)
      else reject(new AggregateError(failures, 'no contender has answered'))
      scope.end(lostRace)
    }
    const takeAnswer = (index: number, answer: T) => {
      if (!isFinal(answer)) {
        answers.push(answer)
        return
      }
      for (const earlier of started.slice(0, started.indexOf(index))) {
        if (running.has(earlier)) onOvertaken?.(earlier)
      }
      resolve(answer)
      scope.end(lostRace)
    }
    const onAbort = () => {
      clearTimeout(timer)
      // Without effect when the race has been decided.
      reject(signal.reason)
    }

    if (signal.aborted) onAbort()
    else {
      signal.addEventListener('abort', onAbort, { once: true })
      startNext()
    }
  })
}
