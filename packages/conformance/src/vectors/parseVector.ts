/** One round trip as the specification writes it down, for a host of chain 31337 and cluster 103 with prefix `svc_`. */
export interface Vector {
  /** `<folder>/<case>`: the method, or the part of the wire. */
  readonly name: string
  /** What the case shows, as a sentence. */
  readonly shows: string
  readonly verb: string
  /** Path and query. */
  readonly target: string
  /** In place of the usual ones, which are credentials and media type; `''` leaves one out. Names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>
  /** Absent: none. */
  readonly body?: string
  readonly status: number
  /** Headers that the answer must have, with these values. */
  readonly answerHeaders: Readonly<Record<string, string>>
  /** The answer as JSON text; absent: it has no body. */
  readonly answer?: string
  /** The part that goes beyond the service document, where the case needs one. */
  readonly extension?: string
}

const headerLine = /^([<>]) ([a-z0-9-]+): ?(.*)$/

/**
 * Reads one file of `spec/vectors`; spec/README.md describes the format.
 *
 * @throws {Error} A line means nothing, or one that is needed is missing.
 */
export function parseVector(name: string, text: string): Vector {
  const lines = text.trimEnd().split('\n')
  const [shows, ...notes] = lines.filter(line => line.startsWith('// ')).map(line => line.slice(3))
  const rest = lines.filter(line => !line.startsWith('// '))
  const body = rest.find(line => line.startsWith('>> '))?.slice(3)
  const answer = rest.find(line => line.startsWith('<< '))?.slice(3)
  const used = [body, answer].filter(part => part !== undefined).length
  const [verb, target] = (notes.shift() ?? '').split(' ')
  if (shows === undefined || verb === undefined || !target?.startsWith('/') || rest.length !== used) {
    throw new Error(`${name} is no vector`)
  }
  const headers: Record<'<' | '>', Record<string, string>> = { '<': {}, '>': {} }
  let [status, extension, length] = [200, undefined as string | undefined, 0]
  for (const note of notes) {
    const [, side, header, value] = headerLine.exec(note) ?? []
    if (/^< \d{3}$/.test(note)) status = Number(note.slice(2))
    else if (note.startsWith('extension: ')) extension = note.slice('extension: '.length)
    else if (/^padded: \d+$/.test(note)) length = Number(note.slice('padded: '.length))
    else if (header !== undefined && value !== undefined) headers[side as '<' | '>'][header] = value
    else throw new Error(`${name} has a line that means nothing: ${note}`)
  }
  return {
    name,
    shows,
    verb,
    target,
    requestHeaders: headers['>'],
    status,
    answerHeaders: headers['<'],
    ...(body === undefined ? {} : { body: body.padEnd(length) }),
    ...(answer === undefined ? {} : { answer }),
    ...(extension === undefined ? {} : { extension })
  }
}
