import type { Answer } from './createDispatch.ts'
import type { RawRequest } from './readBody.ts'
import { discard, type PieceStream } from './resultPieces.ts'

/** Entries worked on at the same time: enough to overlap waiting, few enough to bound what one request may hold. */
const entriesAtOnce = 8

/**
 * Answers the requests of a batch, some at a time, and writes the answers in the order of the requests.
 *
 * @remarks A stream among them that fails after it began fails the whole answer: the connection is cut.
 */
export function answerBatch(
  requests: readonly RawRequest[],
  answer: (request: RawRequest, index: number) => Promise<Answer>
): PieceStream {
  const pieces = generate(requests, answer)
  return {
    next: () => pieces.next(),
    return: () => pieces.return(undefined)
  }
}

async function* generate(
  requests: readonly RawRequest[],
  answer: (request: RawRequest, index: number) => Promise<Answer>
): AsyncGenerator<string, undefined, undefined> {
  const waiting = requests.entries()
  const started: Promise<Answer>[] = []
  const startOne = () => {
    const next = waiting.next()
    if (!next.done) started.push(answer(next.value[1], next.value[0]))
  }
  for (let count = 0; count < entriesAtOnce; count++) startOne()
  let open: PieceStream | undefined
  try {
    let lead = '['
    for (let current = started.shift(); current !== undefined; current = started.shift()) {
      const { body } = await current
      if (typeof body === 'string') {
        yield lead + body
      } else {
        open = body
        yield lead
        for (let next = await body.next(); !next.done; next = await body.next()) yield next.value
        open = undefined
      }
      lead = ','
      startOne()
    }
    yield ']'
  } finally {
    await open?.return()
    for (const unsent of started) discard(unsent.then(({ body }) => body))
  }
  return undefined
}
