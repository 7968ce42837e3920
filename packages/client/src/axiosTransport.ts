import { Axios, type AxiosResponse } from 'axios'
import { TransportError } from './errors.ts'
import type { HttpRequest, HttpResponse, Transport } from './transport.ts'

/** The transport of the main entry, over axios. */
export function createAxiosTransport(): Transport {
  // An instance of our own: defaults and interceptors that the application sets on the shared one neither
  // change these requests nor get to see their headers.
  const http = new Axios({
    method: 'post',
    responseType: 'text',
    transformRequest: [],
    transformResponse: [],
    validateStatus: () => true,
    maxRedirects: 0,
    maxBodyLength: Number.POSITIVE_INFINITY,
    timeout: 0
  })

  return async ({ url, headers, body, signal, maxResponseBytes }) => {
    let response: AxiosResponse<unknown>
    try {
      response = await http.request({
        url,
        headers: { ...headers },
        data: body,
        signal,
        maxContentLength: maxResponseBytes,
        // Through a proxy of the environment https is a tunnel, but plain http would show it the key.
        ...(url.startsWith('http:') ? { proxy: false } : {})
      })
    } catch (error) {
      throw toTransportError(error, { url, maxResponseBytes })
    }
    return toHttpResponse(response, maxResponseBytes)
  }
}

function toHttpResponse(
  response: AxiosResponse<unknown>,
  maxResponseBytes: HttpRequest['maxResponseBytes']
): HttpResponse {
  const text = typeof response.data === 'string' ? response.data : ''
  // The browser adapter of axios knows no limit; this at least keeps the text from being parsed.
  if (text.length > maxResponseBytes) throw tooLarge(maxResponseBytes)
  return {
    status: response.status,
    text,
    contentType: headerOf(response, 'content-type'),
    retryAfter: headerOf(response, 'retry-after')
  }
}

function headerOf(response: AxiosResponse<unknown>, name: string): string | undefined {
  const value: unknown = response.headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Takes from a foreign error its code, and nothing else: the rest holds the request. */
function toTransportError(
  error: unknown,
  { url, maxResponseBytes }: Pick<HttpRequest, 'url' | 'maxResponseBytes'>
): TransportError {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof message === 'string' && message.startsWith('maxContentLength')) return tooLarge(maxResponseBytes)
  const reason = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : 'UNKNOWN'
  return new TransportError(`no complete answer from ${new URL(url).origin} (${reason})`, {
    code: 'NETWORK',
    reason,
    // A certificate does not become valid by asking again.
    retryable: !/CERT|TLS|SSL/.test(reason)
  })
}

function tooLarge(maxResponseBytes: number): TransportError {
  return new TransportError(`the answer is larger than maxResponseBytes (${maxResponseBytes})`, {
    code: 'RESPONSE_LIMIT'
  })
}
