import { transport } from '@chain-data/protocol'
import { HttpResponse } from 'msw'
import { writeJson } from './writeJson.ts'

/** What a stream is made of. */
export interface EventSource {
  readonly events: Iterable<unknown> | AsyncIterable<unknown>
  /** The cursor that was asked for. */
  readonly after: string | undefined
}

/** So many digits, so that of two cursors the later one is the greater text, as of the service. */
const cursorDigits = 8

/**
 * A stream of these events. The cursor of an event is its place among them, so that a caller who connects again gets what comes
 * after. When all are sent the stream stays open, as one of the service does.
 */
export function streamEvents({ events, after }: EventSource): Response {
  const skipped = after !== undefined && /^mock-\d+$/.test(after) ? Number(after.slice('mock-'.length)) : 0
  const encoder = new TextEncoder()
  let isLeft = false
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      let position = 0
      for await (const event of events) {
        if (isLeft) return
        if (++position <= skipped) continue
        const id = `mock-${String(position).padStart(cursorDigits, '0')}`
        controller.enqueue(encoder.encode(`id: ${id}\ndata: ${writeJson(event)}\n\n`))
      }
    },
    cancel() {
      isLeft = true
    }
  })
  return new HttpResponse(body, { headers: { 'Content-Type': transport.streamContentType } })
}
