/** One Server-Sent Event. */
export interface ServerEvent {
  /** The last `id` of the stream so far; empty before the first one. */
  readonly id: string
  /** `message` where the stream names no type. */
  readonly type: string
  readonly data: string
}

/**
 * Reads Server-Sent Events from the bytes of an answer. An event that the end of the stream cuts off is left out.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export async function* readServerEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let [id, type] = ['', '']
  let data: string[] = []
  for await (const line of readLines(bytes)) {
    if (line === '') {
      if (data.length > 0) yield { id, type: type === '' ? 'message' : type, data: data.join('\n') }
      type = ''
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') data.push(value)
    else if (field === 'event') type = value
    else if (field === 'id' && !value.includes('\0')) id = value
  }
}

/** Lines that have ended, by LF, CR or both. */
async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // It drops a byte order mark, as the standard has it.
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true })
    for (;;) {
      // A CR at the end may be the first half of a line end.
      const end = /\r\n|\n|\r(?!$)/.exec(rest)
      if (end === null) break
      yield rest.slice(0, end.index)
      rest = rest.slice(end.index + end[0].length)
    }
  }
}
