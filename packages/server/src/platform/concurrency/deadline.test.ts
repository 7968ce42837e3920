import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { DeadlineError, openAbortScope, unlessAborted, withDeadline, withinDeadline } from './deadline.ts'

const never = <T>() => new Promise<T>(() => {})

describe('an abort scope', () => {
  test('aborts with the reason of the parent that aborts first', () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const scope = openAbortScope([one.signal, undefined, two.signal])
    two.abort(new Error('second'))
    one.abort(new Error('first'))
    expect(scope.signal.reason).toMatchObject({ message: 'second' })
  })

  test('is aborted from the start when a parent is', () => {
    expect(openAbortScope([AbortSignal.abort('gone')]).signal.reason).toBe('gone')
  })

  test('aborts at its deadline, with the error it is given', async () => {
    const scope = openAbortScope([])
    scope.setDeadline(1)
    await expect(unlessAborted(never(), scope.signal)).rejects.toBeInstanceOf(DeadlineError)
    const other = openAbortScope([])
    other.setDeadline(1, () => new RangeError('late'))
    await expect(unlessAborted(never(), other.signal)).rejects.toThrow(new RangeError('late'))
  })

  test('forgets its parents: on release without an abort, at its end with one', () => {
    const parent = new AbortController().signal
    const [released, ended] = [openAbortScope([parent]), openAbortScope([parent])]
    expect(getEventListeners(parent, 'abort')).toHaveLength(2)
    released.release()
    ended.end()
    expect(getEventListeners(parent, 'abort')).toHaveLength(0)
    expect([released.signal.aborted, ended.signal.aborted]).toEqual([false, true])
  })
})

describe('work with a deadline', () => {
  test('gives its result and leaves its signal open', async () => {
    let seen: AbortSignal | undefined
    const result = await withDeadline({ timeoutMs: 5 }, async signal => {
      seen = signal
      return 'done'
    })
    await new Promise(resolve => setTimeout(resolve, 20))
    expect([result, seen?.aborted]).toEqual(['done', false])
  })

  test('rejects at the deadline even if it ignores its signal', async () => {
    let seen: AbortSignal | undefined
    const late = withDeadline({ timeoutMs: 1, createError: () => new Error('late') }, signal => {
      seen = signal
      return never()
    })
    await expect(late).rejects.toThrow('late')
    expect(seen?.aborted).toBe(true)
  })

  test('rejects with the reason of its caller, without a timeout too', async () => {
    const caller = new AbortController()
    const work = withDeadline({ signal: caller.signal }, () => never())
    caller.abort(new Error('gone'))
    await expect(work).rejects.toThrow('gone')
  })

  test('aborts what is left of failed work', async () => {
    let seen: AbortSignal | undefined
    const failing = withDeadline({ timeoutMs: 60_000 }, signal => {
      seen = signal
      return Promise.reject(new Error('no'))
    })
    await expect(failing).rejects.toThrow('no')
    expect(seen?.aborted).toBe(true)
  })
})

test('a promise that loses against an abort is not reported as unhandled', async () => {
  const failing = Promise.reject(new Error('later'))
  await expect(unlessAborted(failing, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
})

describe('work whose signal is made when it is asked for', () => {
  const createError = () => new Error('late')
  const parent = () => new AbortController()

  test('asks for no signal by itself, and gives its result', async () => {
    const signal = () => {
      throw new Error('not to be called')
    }
    const deadline = { timeoutMs: 60_000, signal, createError }
    expect(await withinDeadline(deadline, async () => 'done')).toBe('done')
    expect(await withinDeadline({ ...deadline, timeoutMs: 0 }, () => 'at once')).toBe('at once')
    await expect(withinDeadline(deadline, () => Promise.reject(new Error('failed')))).rejects.toThrow(
      'failed'
    )
  })

  test('rejects at the deadline, with or without a signal', async () => {
    const deadline = { timeoutMs: 1, signal: () => parent().signal, createError }
    await expect(withinDeadline(deadline, never)).rejects.toThrow('late')
    let seen: AbortSignal | undefined
    const late = withinDeadline(deadline, getSignal => {
      seen = getSignal()
      return never()
    })
    await expect(late).rejects.toThrow('late')
    expect(seen?.reason).toMatchObject({ message: 'late' })
  })

  test('rejects when the signal that it asked for aborts, before and after', async () => {
    const caller = parent()
    const deadline = { timeoutMs: 60_000, signal: () => caller.signal, createError }
    const work = (getSignal: () => AbortSignal) => {
      getSignal()
      return never()
    }
    const under = withinDeadline(deadline, work)
    caller.abort(new Error('gone'))
    await expect(under).rejects.toThrow('gone')
    await expect(withinDeadline(deadline, work)).rejects.toThrow('gone')
  })

  test('leaves its signal open after a result, and forgets the parent', async () => {
    const caller = parent()
    let seen: AbortSignal | undefined
    await withinDeadline({ timeoutMs: 60_000, signal: () => caller.signal, createError }, async getSignal => {
      seen = getSignal()
    })
    expect([seen?.aborted, getEventListeners(caller.signal, 'abort').length]).toEqual([false, 0])
  })
})
