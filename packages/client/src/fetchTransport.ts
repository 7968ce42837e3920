import type { ReadBody, Transport } from './transport.ts'

/** The part of `fetch` this client uses, so that its types need neither DOM nor Node types. */
export interface FetchLike {
  /** Sends one request. `init` has `method`, `headers`, `body`, `signal` and `redirect`. */
  // A method, not a property: the parameters of every runtime's `fetch` then fit.
  fetch(url: string, init: object): Promise<FetchedResponse>
}

/** The part of a `Response` this client uses. */
export interface FetchedResponse {
  /** HTTP status; 0 where a page was redirected. */
  readonly status: number
  /** The headers that the page may see, by any case of their names. */
  readonly headers: {
    /** `null`: not there, or hidden from the page. */
    get(name: string): string | null
  }
  /** A stream of bytes; absent in runtimes without streams, such as React Native. */
  readonly body?: unknown
  /** The whole body, where there is no stream. */
  text(): Promise<string>
}

/** The part of a `ReadableStream` this client uses. */
export interface ByteStream {
  /** Takes the stream over. */
  getReader?(): {
    /** No value at the end. */
    read(): Promise<{ readonly value?: Uint8Array | undefined }>
    cancel(): Promise<unknown>
  }
}

/**
 * The transport of `./fetch`, over the runtime's `fetch` or another one.
 *
 * @param fetchOption - Absent: the global `fetch` of the moment, so that what replaces it is used too.
 */
export function createFetchTransport(fetchOption?: FetchLike['fetch']): Transport {
  return async (url, request, maxBytes, read = readText) => {
    const send = fetchOption ?? (fetch as FetchLike['fetch'])
    const response = await send(url, request)
    const text = await read(response, maxBytes)
    return { status: response.status, text, header: name => response.headers.get(name) }
  }
}

/** @returns `undefined` for a body beyond the limit; its connection is given up. */
export const readText: ReadBody = async (response, maxBytes) => {
  const reader = (response.body as ByteStream | null | undefined)?.getReader?.()
  let text = ''
  if (!reader) {
    // React Native has no streams; there the limit counts characters, after the fact.
    text = await response.text()
    return text.length > maxBytes ? undefined : text
  }
  const decoder = new TextDecoder()
  for (let bytes = 0; ; ) {
    const { value } = await reader.read()
    if (!value) return text + decoder.decode()
    bytes += value.length
    if (bytes > maxBytes) return void reader.cancel().catch(() => {})
    text += decoder.decode(value, { stream: true })
  }
}
