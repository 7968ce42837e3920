import { unlessAborted } from '../../platform/concurrency/deadline.ts'

/**
 * Runs work of one name once for all callers that want it at the same time. It is cancelled when the last of them is gone.
 */
export function createSharedSteps() {
  interface Step {
    readonly done: Promise<void>
    readonly leaving: AbortController
    waiting: number
  }
  const steps = new Map<string, Step>()

  return async function share(
    name: string,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<void>
  ): Promise<void> {
    signal.throwIfAborted()
    let step = steps.get(name)
    if (step === undefined) {
      const leaving = new AbortController()
      const begun: Step = { done: run(leaving.signal), leaving, waiting: 0 }
      const forget = () => {
        if (steps.get(name) === begun) steps.delete(name)
      }
      begun.done.then(forget, forget)
      steps.set(name, begun)
      step = begun
    }
    step.waiting++
    try {
      await unlessAborted(step.done, signal)
    } finally {
      step.waiting--
      if (step.waiting === 0) {
        // The next caller must not join what is being cancelled.
        if (steps.get(name) === step) steps.delete(name)
        step.leaving.abort(new Error('no caller waits for it any more'))
      }
    }
  }
}
