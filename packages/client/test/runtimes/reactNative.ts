import { type Context, createContext } from 'node:vm'

/**
 * A JavaScript context with the globals that React Native 0.74 and newer has on Hermes, and no others.
 *
 * As there: `fetch` is a polyfill over `XMLHttpRequest` whose responses have no `body` stream and whose `redirect`
 * option does nothing; `AbortController` is the `abort-controller` polyfill, whose signals have neither `reason` nor
 * the static functions; `TextEncoder`, `btoa` and `atob` come from Hermes; `TextDecoder`, `structuredClone`,
 * `ReadableStream`, `Buffer` and `process.versions` do not exist.
 */
export function createReactNativeContext(): Context {
  const context: Context = createContext({
    console,
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    setImmediate,
    queueMicrotask,
    TextEncoder,
    btoa,
    atob,
    performance: { now: () => performance.now() },
    URL: ReactNativeUrl,
    URLSearchParams,
    FormData: class FormData {},
    Blob: class Blob {},
    AbortController: ReactNativeAbortController,
    AbortSignal: ReactNativeAbortSignal,
    XMLHttpRequest: ReactNativeXmlHttpRequest,
    Headers,
    fetch: reactNativeFetch,
    navigator: { product: 'ReactNative' },
    process: { env: { NODE_ENV: 'production' } }
  })
  context.global = context.window = context.self = context
  return context
}

type Listener = (event: { readonly type: string }) => void

/** As the `abort-controller` polyfill: no `reason`, no `throwIfAborted`, no static functions. */
class ReactNativeAbortSignal {
  aborted = false
  onabort: Listener | null = null
  readonly listeners = new Set<Listener>()

  addEventListener(_type: 'abort', listener: Listener): void {
    this.listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    this.listeners.delete(listener)
  }
}

class ReactNativeAbortController {
  readonly signal = new ReactNativeAbortSignal()

  abort(): void {
    if (this.signal.aborted) return
    this.signal.aborted = true
    const event = { type: 'abort' }
    this.signal.onabort?.(event)
    for (const listener of [...this.signal.listeners]) listener(event)
  }
}

/** Before 0.80 most members of a `URL` throw "not implemented". */
class ReactNativeUrl {
  readonly href: string

  constructor(url: string) {
    this.href = String(url)
  }

  get hostname(): string {
    throw new Error('URL.hostname is not implemented')
  }

  get protocol(): string {
    throw new Error('URL.protocol is not implemented')
  }

  get pathname(): string {
    throw new Error('URL.pathname is not implemented')
  }

  get origin(): string {
    throw new Error('URL.origin is not implemented')
  }

  toString(): string {
    return this.href
  }
}

/** The part of `XMLHttpRequest` that both the `fetch` polyfill and axios use; redirects are followed natively. */
class ReactNativeXmlHttpRequest {
  readyState = 0
  status = 0
  statusText = ''
  responseText = ''
  response = ''
  responseURL = ''
  responseType = ''
  timeout = 0
  withCredentials = false
  onreadystatechange: Listener | null = null
  onload: Listener | null = null
  onloadend: Listener | null = null
  onerror: Listener | null = null
  onabort: Listener | null = null
  ontimeout: Listener | null = null
  readonly upload = { addEventListener() {} }
  private readonly sending = new AbortController()
  private readonly requestHeaders: [string, string][] = []
  private responseHeaders = ''
  private method = 'GET'
  private url = ''

  open(method: string, url: string): void {
    this.method = method
    this.url = url
    this.readyState = 1
  }

  setRequestHeader(name: string, value: string): void {
    this.requestHeaders.push([name, value])
  }

  getAllResponseHeaders(): string {
    return this.responseHeaders
  }

  addEventListener(): void {}

  send(body?: string | null): void {
    this.exchange(body ?? null).then(
      () => this.end('load'),
      () => this.end(this.sending.signal.aborted ? 'abort' : 'error')
    )
  }

  abort(): void {
    this.sending.abort()
  }

  private async exchange(body: string | null): Promise<void> {
    const response = await fetch(this.url, {
      method: this.method,
      headers: this.requestHeaders,
      body,
      redirect: 'follow',
      signal: this.sending.signal
    })
    this.responseText = this.response = await response.text()
    this.status = response.status
    this.statusText = response.statusText
    this.responseURL = response.url
    this.responseHeaders = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  }

  private end(type: 'load' | 'abort' | 'error'): void {
    this.readyState = 4
    const event = { type }
    this.onreadystatechange?.(event)
    this[`on${type}`]?.(event)
    this.onloadend?.(event)
  }
}

interface FetchInit {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: ReactNativeAbortSignal
}

/** As the `whatwg-fetch` polyfill: over XMLHttpRequest, the whole text at once, `redirect` ignored. */
function reactNativeFetch(url: string, init: FetchInit = {}): Promise<object> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(Object.assign(new Error('Aborted'), { name: 'AbortError' }))
    if (init.signal?.aborted) return refuse()
    const request = new ReactNativeXmlHttpRequest()
    const onAbort = () => request.abort()
    init.signal?.addEventListener('abort', onAbort)
    request.onload = () => {
      const text = async () => request.responseText
      const headers = new Headers()
      for (const line of request.getAllResponseHeaders().split('\r\n')) {
        const colon = line.indexOf(':')
        if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
      }
      const { status, statusText, responseURL } = request
      const ok = status >= 200 && status < 300
      resolve({ type: 'default', ok, status, statusText, url: responseURL, headers, text })
    }
    request.onerror = () => reject(new TypeError('Network request failed'))
    request.onabort = refuse
    request.onloadend = () => init.signal?.removeEventListener('abort', onAbort)
    request.open(init.method ?? 'GET', url)
    for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value)
    request.send(init.body ?? null)
    return undefined
  })
}
