import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { inspect } from 'node:util'
import axios from 'axios'
import { describe, expect, test } from 'vitest'
import type { ClientOptions } from '../src/index.ts'
import { caught } from './support/caught.ts'
import { address, projectId, serverKey, token } from './support/credentials.ts'
import { findSecret } from './support/findSecret.ts'
import { transports } from './support/transports.ts'

type Options = { baseUrl?: string; timeoutMs?: number; maxResponseBytes?: number } & Record<string, unknown>

const header = `Basic ${token}`

function httpAnswer(status: number, body: string, headers: Record<string, string> = {}) {
  const bytes = Buffer.from(body)
  const all = {
    'Content-Type': 'application/json',
    'Content-Length': bytes.length,
    Connection: 'close',
    ...headers
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return (socket: Socket) => {
    socket.write(`HTTP/1.1 ${status} X\r\n${lines.join('')}\r\n`)
    socket.end(bytes)
  }
}

/** Writes JSON as others do: PHP escapes slashes, Python everything beyond ASCII. */
const likePhp = (value: unknown) => JSON.stringify(value).replaceAll('/', '\\/')
const likePython = (value: unknown) =>
  JSON.stringify(value).replace(/[^ -~]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

const echo = {
  jsonrpc: '2.0',
  id: 1,
  error: {
    code: -32000,
    message: `refused ${header} and ${serverKey}`,
    data: {
      reason: token,
      extraMessage: `key ${serverKey}`,
      headers: { Authorization: header },
      [serverKey]: [serverKey]
    }
  }
}

const answers: Record<string, (socket: Socket) => void> = {
  'a page that repeats the request': httpAnswer(200, `<pre>Authorization: ${header}\n${serverKey}</pre>`),
  'a page typed as the key': httpAnswer(200, '<p>', { 'Content-Type': `text/${token.replaceAll('=', '')}=` }),
  'an error that repeats the request': httpAnswer(200, JSON.stringify(echo)),
  'an error that repeats the request, slashes escaped': httpAnswer(200, likePhp(echo)),
  'an error that repeats the request, in ASCII': httpAnswer(200, likePython(echo)),
  'an error with the key as its id': httpAnswer(200, JSON.stringify({ ...echo, id: serverKey })),
  'an error that is only the key': httpAnswer(
    200,
    JSON.stringify({ jsonrpc: '2.0', id: 1, error: serverKey })
  ),
  'a version that is the key': httpAnswer(200, JSON.stringify({ jsonrpc: serverKey, id: 1, result: [] })),
  'an array that repeats the request': httpAnswer(200, JSON.stringify([echo])),
  'broken JSON that repeats the request': httpAnswer(200, `{"authorization": "${header}"`),
  'an empty body': httpAnswer(200, ''),
  'a result and an error': httpAnswer(200, JSON.stringify({ ...echo, result: serverKey })),
  'a redirect to the key': httpAnswer(302, header, { Location: `https://x.example/?${token}` }),
  'status 401 that repeats the request': httpAnswer(401, JSON.stringify({ ...echo, id: null }), {
    'WWW-Authenticate': header
  }),
  'status 403 with a page': httpAnswer(403, `<pre>${header}</pre>`),
  'status 413': httpAnswer(413, header),
  'status 429 with a strange wait': httpAnswer(429, header, { 'Retry-After': token }),
  'status 500 that repeats the request': httpAnswer(500, JSON.stringify(echo)),
  'status 502 with a page': httpAnswer(502, `<pre>${header}</pre>`),
  'status 503': httpAnswer(503, header, { 'Retry-After': '1' }),
  'a reset': socket => socket.resetAndDestroy(),
  'a close without a word': socket => socket.end(),
  'a close in the headers': socket => socket.end('HTTP/1.1 200 OK\r\nX-'),
  'a close in the body': socket => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${header}`),
  'a close between chunks': socket =>
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n24\r\n'),
  'no HTTP at all': socket => socket.end(`${header}\r\n`),
  'headers without end': socket => socket.end(`HTTP/1.1 200 OK\r\nX-A: ${token.repeat(2000)}\r\n\r\n`),
  'damaged compression': httpAnswer(200, header, { 'Content-Encoding': 'gzip' })
}

describe.each(transports)('over %s', (_transport, createClient) => {
  /** Runs one call against a server that answers every request with the given bytes. */
  async function errorAgainst(speak: (socket: Socket) => void, options: Options = {}, scheme = 'http:') {
    const sockets = new Set<Socket>()
    const server = createTcpServer(socket => {
      sockets.add(socket)
      socket.on('error', () => {}).once('data', () => speak(socket))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const baseUrl = `${scheme}//127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      const client = createClient({ baseUrl, projectId, serverKey, timeoutMs: 5_000, retries: 0, ...options })
      return await caught(client.getTokensAndNFTs({ address, chainId: 1 }))
    } finally {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    }
  }

  describe('no credential in the error of', () => {
    test.each(Object.entries(answers))('%s', async (_title, speak) => {
      expect(findSecret(await errorAgainst(speak))).toEqual([])
    })

    test('an answer that is too large', async () => {
      const error = await errorAgainst(httpAnswer(200, header.repeat(10)), { maxResponseBytes: 10 })
      expect(error.code).toBe('RESPONSE_LIMIT')
      expect(findSecret(error)).toEqual([])
    })

    test('a deadline before the headers', async () => {
      const error = await errorAgainst(() => {}, { timeoutMs: 50 })
      expect(error.code).toBe('TIMEOUT')
      expect(findSecret(error)).toEqual([])
    })

    test('a deadline in the body', async () => {
      const stall = (socket: Socket) =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${header}`)
      const error = await errorAgainst(stall, { timeoutMs: 50 })
      expect(error.code).toBe('TIMEOUT')
      expect(findSecret(error)).toEqual([])
    })

    test('TLS spoken to a server that has none', async () => {
      const error = await errorAgainst(httpAnswer(400, header), {}, 'https:')
      expect(error.code).toBe('NETWORK')
      expect(findSecret(error)).toEqual([])
    })

    test('a port where nobody listens', async () => {
      const server = createTcpServer()
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      await new Promise(resolve => server.close(resolve))
      const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, projectId, serverKey, chainId: 1 })
      const error = await caught(client.getTokensAndNFTs({ address }))
      expect(error.reason).toBe('ECONNREFUSED')
      expect(findSecret(error)).toEqual([])
    })

    test('a signal that fired, but for the reason that the caller gave', async () => {
      const client = createClient({ baseUrl: 'https://rpc.example.com', projectId, serverKey, chainId: 1 })
      const reason = new Error(header)
      const error = await caught(client.getTokensAndNFTs({ address, signal: AbortSignal.abort(reason) }))
      expect(error.cause).toBe(reason)
      expect(JSON.stringify(error) + String(error) + error.stack).not.toContain(token)
    })

    test.each<[string, Options]>([
      ['a project id with a colon', { projectId: `${projectId}:${serverKey}` }],
      ['a key with a line break', { serverKey: `${serverKey}\n` }],
      ['a key that is no text', { serverKey: { serverKey } as never }],
      [
        'a base URL with the credentials',
        { baseUrl: `https://${projectId}:${encodeURIComponent(serverKey)}@x.example` }
      ],
      ['a base URL that is the key', { baseUrl: serverKey }],
      [
        'a base URL with the key as query',
        { baseUrl: `https://x.example/?key=${encodeURIComponent(serverKey)}` }
      ],
      ['plain http', { baseUrl: 'http://rpc.example.com' }],
      ['a chain id that is the key', { chainId: serverKey as never }],
      ['a timeout that is the key', { timeoutMs: serverKey as never }],
      ['a prefix that is an object with the key', { methodPrefix: { serverKey } as never }],
      ['a size limit that is the key', { maxResponseBytes: serverKey as never }]
    ])('%s', async (_title, options) => {
      const create = async () =>
        createClient({
          baseUrl: 'https://x.example',
          projectId,
          serverKey,
          ...options
        } as ClientOptions<'number'>)
      const error = await caught(create())
      expect(error.code).toBe('CONFIGURATION')
      expect(findSecret(error)).toEqual([])
    })

    test.each<[string, object]>([
      ['no chain', {}],
      ['params that cannot be written', { chainId: 1, tokenAddresses: [1n] }],
      ['a chain id that is the key', { chainId: serverKey }]
    ])('a call with %s', async (_title, args) => {
      const client = createClient({ baseUrl: 'https://x.example', projectId, serverKey })
      const error = await caught(client.getTokensAndNFTs({ address, ...args } as never))
      expect(error.code).toBe('CONFIGURATION')
      expect(findSecret(error)).toEqual([])
    })
  })

  test('what is blanked out in an error leaves the rest readable', async () => {
    const error = await errorAgainst(httpAnswer(200, JSON.stringify(echo)))
    expect(error.message).toBe(
      'getTokensAndNFTs: refused Basic [redacted] and [redacted]: key [redacted] (-32000)'
    )
    expect(error.data).toMatchObject({ headers: { Authorization: 'Basic [redacted]' } })
  })

  test('the client shows functions and its chain, and nothing else of its options', () => {
    const client = createClient({ baseUrl: 'https://rpc.example.com', projectId, serverKey, chainId: 1 })
    expect(findSecret(client)).toEqual([])
    expect(JSON.stringify(client)).toBe('{"chainId":1}')
    expect(Object.isFrozen(client)).toBe(true)
  })
})

describe.each(transports)('what auth gives, over %s, is not in', (_transport, createClient) => {
  const provided = { Authorization: `Bearer ${token}`, 'X-Session': serverKey.replace(/[^ -~]/g, 'x') }
  const session = provided['X-Session']
  const shows = (value: unknown) => JSON.stringify(value).includes(token) || inspect(value).includes(session)

  async function errorWith(auth: () => Promise<Record<string, string>>) {
    const server = createServer((request, response) => {
      response
        .writeHead(401)
        .end(likePhp({ jsonrpc: '2.0', id: null, error: { ...echo.error, data: request.headers } }))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      return await caught(createClient({ baseUrl, auth, chainId: 1 }).getTokensAndNFTs({ address }))
    } finally {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }

  test('the error of a server that repeats it', async () => {
    const error = await errorWith(async () => provided)
    expect(error).toMatchObject({ code: 'RPC', status: 401 })
    expect(error.data).toMatchObject({ authorization: '[redacted]', 'x-session': '[redacted]' })
    expect(shows(error)).toBe(false)
  })

  test.each<[string, () => Promise<never>]>([
    ['an auth that fails with it', () => Promise.reject(new Error(`${token} ${session}`))],
    ['a value that no header can carry', async () => ({ Authorization: `${token}\r\n${session}` }) as never],
    ['a value that is no text', async () => ({ Authorization: { token, session } }) as never],
    ['a name that no header can have', async () => ({ [`${token} `]: session }) as never]
  ])('the error of %s', async (_title, auth) => {
    const error = await errorWith(auth)
    expect(error).toMatchObject({ code: 'CONFIGURATION', reason: 'AUTH_FAILED', retryable: false })
    expect(shows(error)).toBe(false)
    expect(findSecret(error)).toEqual([])
  })
})

test('the hunt finds the credentials in an error of axios and in a careless cause', async () => {
  const config = { headers: { Authorization: header }, proxy: false as const }
  const bare = await axios.get('http://127.0.0.1:1/', config).catch((error: unknown) => error)
  expect(findSecret(bare)).toContain('a walk over all properties')
  expect(findSecret(new Error('m', { cause: bare }))).toContain('inspect of everything')
  expect(findSecret({ key: serverKey })).toHaveLength(5)
})
