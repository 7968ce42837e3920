import { unlessAborted } from '../../../nodes/upstreams/abortScope.ts'

/** Holds back requests for traces, so that what is under way at a time fits into memory whatever the blocks are. */
export interface TraceWindow {
  /**
   * Runs `ask` as soon as there is room.
   * @param ask - tells the bytes of the answer, where it knows them.
   * @throws the signal's reason, and whatever `ask` throws.
   */
  run<T>(ask: (tell: (bytes: number) => void) => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Of text. Parsed it takes several times as much. */
const windowBytes = 64 * 1024 * 1024
const most = 32
/** How large answers are is not known before the first ones. */
const firstAnswers = 4

/** Answers are taken to be as large as those before them: the estimate rises at once, and falls slowly. */
export function createTraceWindow(): TraceWindow {
  const waiting: (() => void)[] = []
  let underWay = 0
  let seen = 0
  let expectedBytes = 0

  const hasRoom = () =>
    underWay === 0 ||
    (underWay < Math.min(most, firstAnswers + seen) && (underWay + 1) * expectedBytes <= windowBytes)
  const admit = () => {
    while (waiting.length > 0 && hasRoom()) {
      underWay++
      waiting.shift()?.()
    }
  }
  const leave = () => {
    underWay--
    admit()
  }
  const tell = (bytes: number) => {
    seen++
    expectedBytes = Math.max(bytes, expectedBytes * 0.95)
  }

  return {
    async run(ask, signal) {
      const turn = new Promise<void>(resolve => waiting.push(resolve))
      admit()
      try {
        await (signal === undefined ? turn : unlessAborted(turn, signal))
      } catch (error) {
        // Whoever no longer waits gives its place on, once it has one.
        turn.then(leave, leave)
        throw error
      }
      try {
        return await ask(tell)
      } finally {
        leave()
      }
    }
  }
}
