import type { BodyStream } from './exchange.ts'

/** The same body; `ended` runs once, when it is read to its end, fails, or is let go. */
export function onceEnded(body: BodyStream, ended: () => void): BodyStream {
  let hasEnded = false
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    ended()
  }
  return {
    async next() {
      try {
        const next = await body.next()
        if (next.done) end()
        return next
      } catch (error) {
        end()
        throw error
      }
    },
    async return() {
      try {
        return await body.return()
      } finally {
        end()
      }
    }
  }
}
