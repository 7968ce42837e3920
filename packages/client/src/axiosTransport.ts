import { Axios, type AxiosRequestConfig, type AxiosResponse } from 'axios'
import type { Transport } from './transport.ts'

/**
 * The transport of the main entry, over axios.
 *
 * @param adapter - How axios sends. In a browser fetch comes before XMLHttpRequest, which follows redirects.
 */
export function createAxiosTransport(
  adapter: AxiosRequestConfig['adapter'] = ['http', 'fetch', 'xhr']
): Transport {
  // An instance of our own: defaults and interceptors that the application sets on the shared one neither
  // change these requests nor get to see their headers.
  const http = new Axios({
    adapter,
    method: 'post',
    responseType: 'text',
    transformRequest: [],
    transformResponse: [],
    validateStatus: () => true,
    maxRedirects: 0,
    timeout: 0
  })

  return async (url, request, maxBytes, read) => {
    if (read) {
      // axios gives no body while it arrives, or only over fetch.
      const response = await fetch(url, request as RequestInit)
      const text = await read(response, maxBytes)
      return { status: response.status, text, header: name => response.headers.get(name) }
    }
    let response: AxiosResponse<unknown>
    try {
      response = await http.request({
        url,
        // A header of axios' own would make every call from a page ask the server first.
        headers: { ...request.headers, 'User-Agent': false },
        data: request.body,
        signal: request.signal,
        maxContentLength: maxBytes,
        // Through a proxy of the environment https is a tunnel, but plain http would show it the key.
        ...(/^http:/.test(url) && { proxy: false })
      })
    } catch (error) {
      if (isLengthError(error)) return { status: 0, text: undefined, header: () => {} }
      throw error
    }
    const { status, data, headers: received } = response
    const header = (name: string) => received[name] as string | null
    const text = typeof data === 'string' ? data : ''
    // XMLHttpRequest knows no limit; this at least keeps the text from being parsed.
    return { status, text: text.length > maxBytes ? undefined : text, header }
  }
}

function isLengthError(error: unknown): boolean {
  return String((Object(error) as { message?: unknown }).message).startsWith('maxContentLength')
}
