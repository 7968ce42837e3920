import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exchange, startHost, startTarget } from './startRoute.ts'

const call = '{"jsonrpc":"2.0","id":1,"method":"svc_getSyncStatus","chainId":1,"params":[]}'
const key = Buffer.from('demo:demo-server-key').toString('base64')

let target: Awaited<ReturnType<typeof startTarget>>
let host: Awaited<ReturnType<typeof startHost>>
beforeAll(async () => {
  target = await startTarget()
  host = await startHost({ baseUrl: `${target.url}/service/` })
})
afterAll(() => {
  host.close()
  target.close()
})

interface Request {
  /** Of the request line. */
  readonly line?: string
  /** Instead of, or beside (`+`), those of a page of the host itself. */
  readonly headers?: readonly string[]
  readonly body?: string | Buffer
}

function ownHeaders(): string[] {
  return [`Host: 127.0.0.1:${host.port}`, 'Sec-Fetch-Site: same-origin', 'Content-Type: application/json']
}

/** The status, the parsed body, and what the target got meanwhile. */
async function ask({ line = 'POST /api/evm-chain HTTP/1.1', headers = [], body = call }: Request) {
  const before = target.received.length
  const names = new Set(headers.map(header => header.split(':')[0]?.toLowerCase()))
  const own = ownHeaders().filter(header => !names.has(header.split(':')[0]?.toLowerCase()))
  const length = names.has('transfer-encoding') ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const sent = headers.filter(header => !header.endsWith(': -'))
  const head = [line, ...own, ...sent, 'Connection: close', ...length, '', ''].join('\r\n')
  const [answerHead, text] = await exchange(host.port, Buffer.concat([Buffer.from(head), Buffer.from(body)]))
  return {
    status: Number(answerHead.split(' ')[1]),
    head: answerHead,
    json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined,
    answer: answerHead + text,
    received: target.received.slice(before)
  }
}

const refused: readonly (readonly [what: string, request: Request, status: number, reason: string | undefined])[] = [
  // Where.
  ['a path that is no endpoint', { line: 'POST /api/nothing HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['a path outside the base path', { line: 'POST /evm-chain HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['the base path itself', { line: 'POST /api HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['a path beyond an endpoint', { line: 'POST /api/evm-chain/x HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['a path that climbs', { line: 'POST /api/evm-chain/../../metrics HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['a path that climbs and comes back', { line: 'POST /api/x/../evm-chain HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['an encoded slash', { line: 'POST /api%2fevm-chain HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['an encoded letter', { line: 'POST /api/%65vm-chain HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['a doubled slash', { line: 'POST //api/evm-chain HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['a backslash', { line: 'POST /api\\evm-chain HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['other letters', { line: 'POST /API/EVM-CHAIN HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['the metrics of the service', { line: 'POST /api/metrics HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['the health page of the service', { line: 'GET /api/health/ready HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['a foreign host in the request line', { line: 'POST http://evil.example/metrics HTTP/1.1' }, 404, 'NOT_FOUND'],
  ['an asterisk', { line: 'POST * HTTP/1.1' }, 404, 'NOT_FOUND'],
  // How.
  ['GET', { line: 'GET /api/evm-chain HTTP/1.1' }, 405, 'METHOD_NOT_ALLOWED'],
  ['HEAD', { line: 'HEAD /api/evm-chain HTTP/1.1' }, 405, undefined],
  ['PUT', { line: 'PUT /api/evm-chain HTTP/1.1' }, 405, 'METHOD_NOT_ALLOWED'],
  ['DELETE', { line: 'DELETE /api/evm-chain HTTP/1.1' }, 405, 'METHOD_NOT_ALLOWED'],
  ['a preflight', { line: 'OPTIONS /api/evm-chain HTTP/1.1' }, 405, 'METHOD_NOT_ALLOWED'],
  // From where.
  ['a page of another site', { headers: ['Sec-Fetch-Site: cross-site'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['a page of a sister host', { headers: ['Sec-Fetch-Site: same-site'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['two claims about the site', { headers: ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['a program that claims to be no page', { headers: ['Sec-Fetch-Site: none'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['an invented claim', { headers: ['Sec-Fetch-Site: SAME-ORIGIN'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['no claim and no origin', { headers: ['Sec-Fetch-Site: -'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['an old browser on a page elsewhere', { headers: ['Sec-Fetch-Site: -', 'Origin: https://evil.example'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['another port of this host', { headers: ['Sec-Fetch-Site: -', 'Origin: http://127.0.0.1:1'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['an opaque origin', { headers: ['Sec-Fetch-Site: -', 'Origin: null'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['an origin that is none', { headers: ['Sec-Fetch-Site: -', 'Origin: ://'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['an origin of a file', { headers: ['Sec-Fetch-Site: -', 'Origin: file://'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['an origin that begins like this host', { headers: ['Sec-Fetch-Site: -', 'Host: app.example', 'Origin: https://app.example.evil.example'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['two origins', { headers: ['Sec-Fetch-Site: -', 'Host: app.example', 'Origin: https://app.example', 'Origin: https://evil.example'] }, 403, 'FORBIDDEN_ORIGIN'],
  ['a right origin with a wrong claim', { headers: ['Sec-Fetch-Site: cross-site', 'Host: app.example', 'Origin: https://app.example'] }, 403, 'FORBIDDEN_ORIGIN'],
  // What.
  ['a form', { headers: ['Content-Type: application/x-www-form-urlencoded'] }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['text, as a page may send without a preflight', { headers: ['Content-Type: text/plain'] }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['no media type', { headers: ['Content-Type: -'] }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['two media types', { headers: ['Content-Type: application/json', 'Content-Type: text/plain'] }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['another charset', { headers: ['Content-Type: application/json; charset=utf-16'] }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a packed body', { headers: ['Content-Encoding: gzip'] }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a body too large', { body: `[${' '.repeat(1_048_576)}]` }, 413, 'BODY_TOO_LARGE'],
  ['no body', { body: '' }, 200, 'PARSE_ERROR'],
  ['no JSON', { body: '{' }, 200, 'PARSE_ERROR'],
  ['no UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, 200, 'PARSE_ERROR'],
  ['two bodies in one', { body: call + call }, 200, 'PARSE_ERROR'],
  ['nesting', { body: `${'['.repeat(65)}${']'.repeat(65)}` }, 200, 'INVALID_REQUEST'],
  ['an empty batch', { body: '[]' }, 200, 'INVALID_REQUEST'],
  ['a batch too long', { body: `[${Array(101).fill(call).join()}]` }, 200, 'INVALID_REQUEST'],
  ['a method that is not for pages', { body: call.replace('svc_getSyncStatus', 'rpc.discover') }, 200, 'METHOD_NOT_FOUND'],
  ['a method name with an escape', { body: call.replace('svc_getSyncStatus', 'rpc\\u002ediscover') }, 200, 'METHOD_NOT_FOUND'],
  ['__proto__ as a method', { body: call.replace('svc_getSyncStatus', '__proto__') }, 200, 'METHOD_NOT_FOUND'],
  ['constructor as a method', { body: call.replace('svc_getSyncStatus', 'constructor') }, 200, 'METHOD_NOT_FOUND'],
  ['the name that refused calls get', { body: call.replace('svc_getSyncStatus', '(not allowed here)') }, 200, 'METHOD_NOT_FOUND']
] // biome-ignore format: a table

describe('a route does not pass on', () => {
  it.each(refused)('%s', async (_what, request, status, reason) => {
    const outcome = await ask(request)
    expect(outcome).toMatchObject({ status, received: [] })
    expect(outcome.json?.error.data.reason).toBe(reason)
    expect(outcome.head).toMatch(/^content-type: application\/json\r$/im)
    expect(outcome.head).toMatch(/^cache-control: no-store\r$/im)
    expect(outcome.head).toMatch(/^x-content-type-options: nosniff\r$/im)
    expect(outcome.head).not.toMatch(/access-control|set-cookie|www-authenticate/i)
    expect(outcome.answer).not.toMatch(/demo-server-key|127\.0\.0\.1|node:|\.ts\b/)
    expect(outcome.answer).not.toContain(key)
  })
})

const passedOn: readonly (readonly [what: string, request: Request, sent: unknown])[] = [
  ['a call of its own page', {}, JSON.parse(call)],
  ['a trailing slash', { line: 'POST /api/evm-chain/ HTTP/1.1' }, JSON.parse(call)],
  ['an absolute request line, without its host', { line: 'POST http://evil.example/api/evm-chain HTTP/1.1' }, JSON.parse(call)],
  ['an absolute request line, without its credentials', { line: 'POST http://root:pass@evil.example/api/evm-chain HTTP/1.1' }, JSON.parse(call)],
  ['an old browser on its own page', { headers: ['Sec-Fetch-Site: -', 'Host: app.example', 'Origin: https://app.example'] }, JSON.parse(call)],
  ['the same with its port', { headers: ['Sec-Fetch-Site: -', 'Host: App.example:8443', 'Origin: https://app.example:8443'] }, JSON.parse(call)],
  ['the same with the port that goes without saying', { headers: ['Sec-Fetch-Site: -', 'Host: app.example:443', 'Origin: https://app.example'] }, JSON.parse(call)],
  ['a Host that something in front has changed', { headers: ['Host: internal', 'Origin: https://app.example'] }, JSON.parse(call)],
  ['a call without unknown members', { body: call.replace('{', '{"admin":true,"__proto__":{"method":"rpc.discover"},') }, JSON.parse(call)],
  ['the last of repeated methods, which was looked at', { body: call.replace('{', '{"method":"rpc.discover",') }, 'refused or once'],
  ['a method that is no text as none', { body: call.replace('"svc_getSyncStatus"', '["rpc.discover"]') }, { jsonrpc: '2.0', id: 1, chainId: 1, params: [] }],
  ['an id that is none as null', { body: call.replace('"id":1', '"id":9007199254740993') }, { ...JSON.parse(call), id: null }],
  ['a chain id that is none as null', { body: call.replace('"chainId":1', '"chainId":"1"') }, { ...JSON.parse(call), chainId: null }],
  ['what is no call as null', { body: '[1]' }, [null]],
  ['refused calls of a batch under a name that no method has', { body: `[${call},${call.replace('svc_getSyncStatus', 'rpc.discover').replace('[]', '[{"a":1}]')}]` }, [JSON.parse(call), { ...JSON.parse(call), method: '(not allowed here)' }]]
] // biome-ignore format: a table

describe('a route passes on', () => {
  it.each(passedOn)('%s', async (_what, request, sent) => {
    const { status, received, json } = await ask(request)
    expect(status).toBe(200)
    const bodies = received.map(({ body }) => JSON.parse(body))
    // A repeated member is refused, or read once: what is refused is never sent.
    if (sent === 'refused or once' && received.length === 0) {
      expect(json.error.data.reason).toBe('INVALID_REQUEST')
      return
    }
    expect(bodies).toEqual([sent === 'refused or once' ? JSON.parse(call) : sent])
    expect(received[0]?.url).toBe('/service/evm-chain')
  })

  it('ids with every digit and letter', async () => {
    for (const id of ['"1e3"', '-9007199254740991', '"\\u00e9\\ud83d\\ude00"']) {
      const { received } = await ask({ body: call.replace('"id":1', `"id":${id}`) })
      expect(received[0]?.body).toContain(`"id":${JSON.stringify(JSON.parse(id))}`)
    }
  })

  it('the chain of the URL, and nothing else of it', async () => {
    const asked = (query: string) => ask({ line: `POST /api/evm-chain?${query} HTTP/1.1` })
    expect((await asked('chainId=5&admin=1')).received[0]?.url).toBe('/service/evm-chain?chainId=5')
    expect((await asked('chainId=5&chainId=6')).received[0]?.url).toBe('/service/evm-chain?chainId=5%2C6')
    expect((await asked('x=%0d%0aX:y')).received[0]?.url).toBe('/service/evm-chain')
  })

  it('its own key and nothing of the headers it got', async () => {
    const { received } = await ask({
      headers: [
        'Authorization: Basic cm9vdDpyb290',
        'Cookie: session=secret',
        'X-Forwarded-For: 10.0.0.1, 203.0.113.9',
        'Forwarded: for=203.0.113.9',
        'X-Forwarded-Host: evil.example',
        'X-Real-IP: 203.0.113.9',
        'Proxy-Authorization: Basic cm9vdDpyb290',
        'Accept-Encoding: gzip, br',
        'Keep-Alive: timeout=1',
        'TE: trailers',
        'X-Http-Method-Override: DELETE',
        'X-Anything: goes'
      ]
    })
    const { host: named, connection: _, 'content-length': __, ...headers } = received[0]?.headers ?? {}
    expect(named).toBe(`127.0.0.1:${target.port}`)
    expect(headers).toEqual({
      authorization: `Basic ${key}`,
      accept: 'application/json',
      'content-type': 'application/json',
      // Of the host's own fetch.
      'accept-encoding': expect.stringContaining('deflate'),
      'accept-language': '*',
      'sec-fetch-mode': 'cors',
      'user-agent': 'node'
    })
  })

  it('a chunked body, without its trailers', async () => {
    const chunks = `${call.length.toString(16)}\r\n${call}\r\n0\r\nAuthorization: Basic cm9vdDpyb290\r\n\r\n`
    const { received } = await ask({ headers: ['Transfer-Encoding: chunked'], body: chunks })
    expect(received.map(({ body }) => JSON.parse(body))).toEqual([JSON.parse(call)])
    expect(received[0]?.headers.authorization).toBe(`Basic ${key}`)
  })
})

it('a line break in a header makes no header for the service', async () => {
  const { received } = await ask({ headers: ['X-A: b\r\nAuthorization: Basic cm9vdDpyb290'] })
  expect(received.map(({ headers }) => headers.authorization)).toEqual([`Basic ${key}`])
  for (const broken of ['X-A: b\rAuthorization: x', 'X-A: b\nAuthorization: x', 'X-A : b', 'X-A: \0']) {
    const { status, received } = await ask({ headers: [broken] })
    expect([status, received.length].join()).toMatch(/^(400,0|200,1)$/)
    for (const { headers } of received) expect(headers.authorization).toBe(`Basic ${key}`)
  }
})

it('has at least sixty cases', () => {
  expect(refused.length + passedOn.length).toBeGreaterThanOrEqual(60)
})
