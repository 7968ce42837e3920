import { expect, test } from 'vitest'
import { lostRace, raceStaggered } from './race.ts'

const names = ['a', 'b', 'c']

interface Attempt {
  readonly signal: AbortSignal
  onStart(): void
  answer(text: string): void
  fail(error: Error): void
}

/** A race whose contenders the test ends by hand. */
function startRace(options: { staggerMs?: number; isFinal?: (answer: string) => boolean } = {}) {
  const attempts = new Map<string, Attempt>()
  const passed: string[] = []
  const caller = new AbortController()
  const result = raceStaggered({
    contenders: names.map(
      name => (signal, onStart) =>
        new Promise<string>((answer, fail) => {
          attempts.set(name, { signal, onStart, answer, fail })
        })
    ),
    staggerMs: options.staggerMs ?? 60_000,
    signal: caller.signal,
    isFinal: options.isFinal ?? (() => true),
    onOvertaken: index => passed.push(names[index] ?? '')
  })
  const at = (name: string) => {
    const attempt = attempts.get(name)
    if (attempt === undefined) throw new Error(`${name} has not been asked`)
    return attempt
  }
  return { result, at, started: () => [...attempts.keys()], passed, caller }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('starts the next one when one fails, and gives the first answer', async () => {
  const { result, at, started } = startRace()
  expect(started()).toEqual(['a'])
  at('a').fail(new Error('no'))
  await turn()
  expect(started()).toEqual(['a', 'b'])
  at('b').answer('found')
  expect(await result).toBe('found')
  expect(started()).toEqual(['a', 'b'])
})

test('starts the next one a while after the one before has really started, and cuts off the losers', async () => {
  const { result, at, started, passed } = startRace({ staggerMs: 1 })
  await turn()
  // It waits in a queue: its clock does not run yet.
  expect(started()).toEqual(['a'])
  at('a').onStart()
  await expect.poll(started).toEqual(['a', 'b'])
  at('b').onStart()
  await expect.poll(started).toEqual(['a', 'b', 'c'])
  at('b').answer('found')
  expect(await result).toBe('found')
  expect(['a', 'c'].map(name => at(name).signal.reason)).toEqual([lostRace, lostRace])
  expect(passed).toEqual(['a'])
})

test('an answer that is not final waits for a better one, and counts when there is none', async () => {
  const isFinal = (answer: string) => answer === 'proven'
  const better = startRace({ isFinal })
  better.at('a').answer('open')
  await turn()
  better.at('b').answer('proven')
  expect(await better.result).toBe('proven')
  const none = startRace({ isFinal })
  none.at('a').answer('first')
  await turn()
  none.at('b').answer('second')
  await turn()
  none.at('c').fail(new Error('no'))
  expect(await none.result).toBe('first')
})

test('tells every failure when there is no answer', async () => {
  const { result, at } = startRace()
  const failing = expect(result).rejects.toMatchObject({
    errors: names.map(name => ({ message: `no ${name}` }))
  })
  for (const name of names) {
    at(name).fail(new Error(`no ${name}`))
    await turn()
  }
  await failing
})

test('ends with its caller', async () => {
  const { result, at, caller } = startRace()
  caller.abort(new Error('enough'))
  await expect(result).rejects.toThrow('enough')
  expect(at('a').signal.reason).toMatchObject({ message: 'enough' })
})

test('ends at once for a caller that has gone, and starts nobody', async () => {
  let starts = 0
  const contenders = [() => Promise.resolve(++starts)]
  const race = { contenders, staggerMs: 1, signal: AbortSignal.abort(new Error('gone')), isFinal: () => true }
  await expect(raceStaggered(race)).rejects.toThrow('gone')
  expect(starts).toBe(0)
})
