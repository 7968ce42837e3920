/** One attempt: the request to one URL. */
export interface RaceRun {
  readonly url: string
  /** Fires when another URL has answered, or the whole race is off. */
  readonly signal: AbortSignal
  /** To be called when the request leaves: the clock for the next URL starts then, not while it waits in a queue. */
  onStart(): void
}

export interface RaceOptions<T> {
  /** In the order in which they are tried; at least one. */
  readonly urls: readonly string[]
  /** So long after one URL has been asked the next one is, too. */
  readonly staggerMs: number
  readonly signal: AbortSignal
  readonly run: (attempt: RaceRun) => Promise<T>
  /** False: this answer counts only if no later URL gives a better one. */
  readonly isFinal: (answer: T) => boolean
  /** Told of each URL that was asked earlier than the one that answered. */
  readonly onOvertaken: (url: string) => void
}

/** Why the losers of a race are cut off. */
export const overtaken = new Error('another URL has answered')

/**
 * Asks several URLs for the same thing: the next one when the one before fails, or does not answer for a while. The first
 * final answer wins and all other requests are cut off.
 *
 * @returns the final answer; without one, the earliest of the others.
 * @throws {AggregateError} every failure, in order of arrival, when there was no answer at all.
 * @throws the reason of `signal`.
 * @see RFC 8305, which does so with the addresses of a host
 */
export function raceUrls<T>(options: RaceOptions<T>): Promise<T> {
  const { urls, staggerMs, signal, run, isFinal, onOvertaken } = options
  return new Promise((resolve, reject) => {
    const losers = new AbortController()
    const asked: string[] = []
    const underWay = new Set<string>()
    const failures: unknown[] = []
    const answers: T[] = []
    let timer: NodeJS.Timeout | undefined
    let next = 0

    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      losers.abort(overtaken)
    }
    const stop = () => {
      clearTimeout(timer)
      losers.abort(signal.reason)
      reject(signal.reason)
    }
    const askNext = () => {
      clearTimeout(timer)
      const url = urls[next++]
      if (url === undefined) return
      underWay.add(url)
      const onStart = () => {
        asked.push(url)
        clearTimeout(timer)
        timer = setTimeout(askNext, staggerMs)
      }
      run({ url, signal: losers.signal, onStart }).then(
        answer => {
          underWay.delete(url)
          if (losers.signal.aborted) return
          if (isFinal(answer)) {
            for (const earlier of asked.slice(0, asked.indexOf(url))) {
              if (underWay.has(earlier)) onOvertaken(earlier)
            }
            end()
            resolve(answer)
            return
          }
          answers.push(answer)
          goOn()
        },
        (failure: unknown) => {
          underWay.delete(url)
          if (losers.signal.aborted) return
          failures.push(failure)
          goOn()
        }
      )
    }
    const goOn = () => {
      if (next < urls.length) {
        askNext()
        return
      }
      if (underWay.size > 0) return
      end()
      const [earliest] = answers
      if (answers.length > 0) resolve(earliest as T)
      else reject(new AggregateError(failures, 'no URL has answered'))
    }

    if (signal.aborted) {
      stop()
      return
    }
    signal.addEventListener('abort', stop, { once: true })
    askNext()
  })
}
