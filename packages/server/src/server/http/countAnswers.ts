import type { Logger } from '../../platform/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { PieceStream } from '../rpc/resultPieces.ts'
import { type Guard, onceEnded } from './guards.ts'

/** Guard: counts answers by status and by the bytes that are sent of them, and logs each one at level debug. */
export function countAnswers(
  metrics: Pick<Metrics, 'countAnswer' | 'countSent' | 'beginStream' | 'endStream'>,
  logger: Logger
): Guard {
  return async ({ request, requestId }, next) => {
    const startedMs = performance.now()
    const answer = await next({})
    const { status, body } = answer
    // Neither path nor query: callers write what they like into them, a key among other things.
    logger.debug('request answered', {
      requestId,
      method: request.method,
      status,
      durationMs: Math.round(performance.now() - startedMs)
    })
    metrics.countAnswer(status)
    if (typeof body === 'string') {
      if (request.method !== 'HEAD') metrics.countSent(Buffer.byteLength(body))
      return answer
    }
    metrics.beginStream()
    const counted: PieceStream = {
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
