import { describe, expect, it } from 'vitest'
import { type ResultChunk, ResultStream } from '../methods/MethodContext.ts'
import type { PieceStream } from './answerBody.ts'
import { gather, writePieces } from './resultPieces.ts'

const loose = { idleMs: 60_000, largestBytes: null }

function streamOf(chunks: () => AsyncIterable<ResultChunk>) {
  let releases = 0
  const stream = new ResultStream(chunks(), async () => {
    releases++
  })
  return { stream, releases: () => releases }
}

async function textOf(body: string | PieceStream): Promise<string> {
  if (typeof body === 'string') return body
  let text = ''
  for (let next = await body.next(); !next.done; next = await body.next()) text += next.value
  return text
}

/** More than is sent whole. */
const long = 'x'.repeat(300_000)

describe('a result in pieces', () => {
  it.each<[string, readonly ResultChunk[], unknown[]]>([
    ['nothing', [], []],
    ['empty chunks', [[], []], []],
    ['one chunk', [[1, 'a']], [1, 'a']],
    ['text that was made already', ['1,"a"', [2], '3'], [1, 'a', 2, 3]],
    ['chunks, some empty', [[], [1], [], [2, 3], []], [1, 2, 3]],
    ['more than is sent whole', [[long], [long], [1]], [long, long, 1]]
  ])('is one JSON array: %s', async (_what, chunks, expected) => {
    const { stream, releases } = streamOf(async function* () {
      yield* chunks
    })
    const body = await gather(writePieces(stream, '{"result":', '}', loose))
    expect(JSON.parse(await textOf(body))).toEqual({ result: expected })
    expect(releases()).toBe(1)
  })

  it('is let go when it is returned before its end, also when nothing of it was read', async () => {
    const { stream, releases } = streamOf(async function* () {
      yield [1]
    })
    await writePieces(stream, '', '', loose).return()
    expect(releases()).toBe(1)
    const begun = streamOf(async function* () {
      yield [long]
      yield [long]
    })
    const body = (await gather(writePieces(begun.stream, '', '', loose))) as PieceStream
    await body.return()
    expect(await body.next()).toEqual({ done: true, value: undefined })
    expect(begun.releases()).toBe(1)
  })

  it('fails and is let go when the next piece does not come, even if the reader never ends', async () => {
    const { stream, releases } = streamOf(async function* () {
      yield [long]
      await new Promise(() => {})
    })
    const body = await gather(writePieces(stream, '', '', { ...loose, idleMs: 30 }))
    await expect(textOf(body)).rejects.toThrow('no progress for 30 ms')
    expect(releases()).toBe(1)
  })

  it('fails and is let go when it grows beyond the bound', async () => {
    const { stream, releases } = streamOf(async function* () {
      for (;;) yield [long]
    })
    const body = await gather(writePieces(stream, '', '', { ...loose, largestBytes: 2_000_000 }))
    await expect(textOf(body)).rejects.toMatchObject({ reason: 'RESPONSE_TOO_LARGE' })
    expect(releases()).toBe(1)
  })
})
