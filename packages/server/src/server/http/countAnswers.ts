import type { Metrics } from '../metrics/metrics.ts'
import type { BodyStream, HttpHandler } from './exchange.ts'
import { onceEnded } from './onceEnded.ts'

/** The same handler, whose answers are counted by status and by what is sent of them. */
export function countAnswers(
  handle: HttpHandler,
  metrics: Pick<Metrics, 'countAnswer' | 'countSent' | 'beginStream' | 'endStream'>
): HttpHandler {
  return async request => {
    const answer = await handle(request)
    const { status, body } = answer
    metrics.countAnswer(status)
    if (typeof body === 'string') {
      if (request.method !== 'HEAD') metrics.countSent(Buffer.byteLength(body))
      return answer
    }
    metrics.beginStream()
    const counted: BodyStream = {
      async next() {
        const piece = await body.next()
        if (!piece.done) metrics.countSent(Buffer.byteLength(piece.value))
        return piece
      },
      return: () => body.return()
    }
    return { ...answer, body: onceEnded(counted, metrics.endStream) }
  }
}
