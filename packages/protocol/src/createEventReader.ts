/** One message of a stream of Server-Sent Events. */
export interface ServerSentEvent {
  /** Absent where the message has none. */
  readonly id?: string
  /** Its `data` lines, joined by line feeds. */
  readonly data: string
}

/**
 * Reads Server-Sent Events from the parts of a body, wherever it is split. Names of events, comments and `retry` are
 * passed over: this service sends none that means anything.
 *
 * @returns A function that takes the next part, decoded by one `TextDecoder` for the whole body, and gives the messages which it
 *   completes. A message that the end of the body cuts off is none.
 * @see WHATWG HTML, 9.2.6 Interpreting an event stream
 */
export function createEventReader(): (text: string) => ServerSentEvent[] {
  let rest = ''
  let id: string | undefined
  let data: string[] = []
  return text => {
    const events: ServerSentEvent[] = []
    // A carriage return at the end may be the first half of a line end.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = `${lines.pop()}`
    for (const line of lines) {
      const [, name, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
      if (name === 'data') data.push(value)
      else if (name === 'id' && !value.includes('\0')) id = value
      if (line) continue
      if (data.length) events.push({ ...(id !== undefined && { id }), data: data.join('\n') })
      id = undefined
      data = []
    }
    return events
  }
}
