import { describe, expect, it } from 'vitest'
import { arrival } from '../../../test/http/runGuard.ts'
import type { PieceStream } from '../rpc/answerBody.ts'
import type { HttpAnswer } from './exchange.ts'
import { Answered, type Arrival, guardList, type Hooks } from './guards.ts'

const { request } = arrival()
const plain: HttpAnswer = { status: 200, headers: {}, body: '' }
const begin = () => guardList(failure => ({ status: 500, headers: {}, body: (failure as Error).message }))

/** A guard that tells what becomes of a request, and may do something of its own. */
function noted(log: string[], name: string, own: Hooks = {}): Hooks {
  return {
    check(call) {
      log.push(`${name} checks`)
      return own.check?.(call)
    },
    finish(call, answer) {
      log.push(`${name} finishes ${answer.body || answer.status}`)
      return own.finish?.(call, answer) ?? answer
    },
    release() {
      log.push(`${name} releases`)
    }
  }
}

function streamOf(...pieces: string[]): PieceStream {
  const left = pieces.values()
  return {
    next: async () => {
      const { value, done } = left.next()
      return done ? { done, value: undefined } : { done: false, value }
    },
    return: async () => ({ done: true, value: undefined })
  }
}

const fails = () => {
  throw new Error('refused')
}

describe('the guards of a request', () => {
  it('check first to last, then finish last to first, and know what was found before', async () => {
    const log: string[] = []
    const handle = begin()
      .guard<object>(noted(log, 'one'))
      .guard(() => ({ found: 'at once' }))
      .guard(async () => ({ later: 'too' }))
      .guard<object>(noted(log, 'two'))
      .answer(({ found, later }) => ({ ...plain, body: `${found}, ${later}` }))
    const { headers, body } = await handle(request)
    expect(body).toBe('at once, too')
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': expect.stringMatching(/-/) })
    expect(log).toEqual([
      ...['one checks', 'two checks', 'two finishes at once, too', 'one finishes at once, too'],
      ...['two releases', 'one releases']
    ])
  })

  it.each<[string, (call: Arrival) => Promise<Answered> | Answered]>([
    ['answers', () => new Answered({ ...plain, body: 'refused' })],
    ['throws', fails],
    ['rejects', async () => fails()]
  ])('do not know of a request that one before them %s', async (_, check) => {
    const log: string[] = []
    const handle = begin()
      .guard<object>(noted(log, 'one'))
      .guard<object>(noted(log, 'two', { check }))
      .guard<object>(noted(log, 'three'))
      .answer(() => plain)
    expect((await handle(request)).body).toBe('refused')
    expect(log).toEqual(['one checks', 'two checks', 'one finishes refused', 'one releases'])
  })

  it.each<[string, () => Promise<HttpAnswer> | HttpAnswer]>([
    ['throws', fails],
    ['rejects', async () => fails()]
  ])('answer what one of them %s on the way back', async (_, finish) => {
    const log: string[] = []
    const handle = begin()
      .guard<object>(noted(log, 'one'))
      .guard<object>(noted(log, 'two', { finish }))
      .answer(() => plain)
    expect(await handle(request)).toMatchObject({ status: 500, body: 'refused' })
    expect(log.slice(2)).toEqual(['two finishes 200', 'one finishes refused', 'two releases', 'one releases'])
  })

  it('hold what they took until a long answer is read or dropped, and not for events', async () => {
    const log: string[] = []
    const ask = async (answer: Partial<HttpAnswer>) => {
      const all = begin().guard<object>(noted(log, 'one'))
      const { body } = await all.answer(() => ({ ...plain, ...answer }))(request)
      log.length = 0
      return body as PieceStream
    }
    const read = await ask({ body: streamOf('a') })
    expect([await read.next(), [...log]]).toEqual([{ done: false, value: 'a' }, []])
    await read.next()
    await read.return()
    expect(log).toEqual(['one releases'])
    const dropped = await ask({ body: streamOf('a') })
    await dropped.return()
    expect(log).toEqual(['one releases'])
    const events = await ask({ body: streamOf('a'), isEvents: true })
    await events.return()
    expect(log).toEqual([])
  })
})
