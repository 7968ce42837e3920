import { expect, test } from 'vitest'
import { overtaken, type RaceRun, raceUrls } from './raceUrls.ts'

const urls = ['a', 'b', 'c']

/** A race whose attempts the test ends by hand. */
function startRace(options: { staggerMs?: number; isFinal?: (answer: string) => boolean } = {}) {
  const attempts = new Map<string, RaceRun & { answer(text: string): void; fail(error: Error): void }>()
  const passed: string[] = []
  const caller = new AbortController()
  const result = raceUrls({
    urls,
    staggerMs: options.staggerMs ?? 60_000,
    signal: caller.signal,
    isFinal: options.isFinal ?? (() => true),
    onOvertaken: url => passed.push(url),
    run: attempt =>
      new Promise<string>((answer, fail) => {
        attempts.set(attempt.url, { ...attempt, answer, fail })
      })
  })
  const at = (url: string) => {
    const attempt = attempts.get(url)
    if (attempt === undefined) throw new Error(`${url} has not been asked`)
    return attempt
  }
  return { result, at, asked: () => [...attempts.keys()], passed, caller }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('asks the next URL when one fails, and gives the first answer', async () => {
  const { result, at, asked } = startRace()
  expect(asked()).toEqual(['a'])
  at('a').fail(new Error('no'))
  await turn()
  expect(asked()).toEqual(['a', 'b'])
  at('b').answer('found')
  expect(await result).toBe('found')
  expect(asked()).toEqual(['a', 'b'])
})

test('asks the next URL a while after the one before has really been asked, and cuts off the losers', async () => {
  const { result, at, asked, passed } = startRace({ staggerMs: 1 })
  await turn()
  // It waits in a queue: its clock does not run yet.
  expect(asked()).toEqual(['a'])
  at('a').onStart()
  await expect.poll(asked).toEqual(['a', 'b'])
  at('b').onStart()
  await expect.poll(asked).toEqual(['a', 'b', 'c'])
  at('b').answer('found')
  expect(await result).toBe('found')
  expect(['a', 'c'].map(url => at(url).signal.reason)).toEqual([overtaken, overtaken])
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
    errors: urls.map(url => ({ message: `no ${url}` }))
  })
  for (const url of urls) {
    at(url).fail(new Error(`no ${url}`))
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
