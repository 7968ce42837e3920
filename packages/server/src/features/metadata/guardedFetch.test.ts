import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer
} from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { type Dial, dialAddress } from '../../platform/network/dialAddress.ts'
import { createGuardedFetch, type GuardedFetchOptions } from './guardedFetch.ts'

const publicAddress = '93.184.215.14'
const servers: (Server | TcpServer)[] = []
const sockets = new Set<Socket>()

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  for (const server of servers.splice(0)) {
    await new Promise(resolve => server.close(resolve))
  }
})

/**
 * A server that the fetcher believes to be public: names lead to a public address, and a socket for that address is
 * opened to the local server instead.
 */
async function servedBy(server: Server | TcpServer, options: GuardedFetchOptions = {}) {
  servers.push(server)
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const dialled: Parameters<Dial>[0][] = []
  const fetch = createGuardedFetch({
    resolvePublic: async name => (name.startsWith('private') ? ['10.0.0.1'] : [publicAddress]),
    dial: (target, signal) => {
      dialled.push(target)
      return dialAddress({ ...target, address: '127.0.0.1', port }, signal)
    },
    ...options
  })
  return { fetch, dialled, port }
}

const served = (
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  options?: GuardedFetchOptions
) => servedBy(createServer(handler), options)

/** A server that answers every connection with the same bytes. */
const servedRaw = (answer: string, options?: GuardedFetchOptions) =>
  servedBy(
    createTcpServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(answer))
    }),
    options
  )

const url = 'http://nft.names.art/1.json'
const reason = (expected: string) => ({ name: 'MetadataError', context: { reason: expected } })

test('sends the original host name and nothing that identifies a user', async () => {
  let seen: IncomingMessage | undefined
  const { fetch } = await served((req, res) => {
    seen = req
    res.setHeader('content-type', 'Application/JSON').end('{"name":"One"}')
  })
  const response = await fetch('http://nft.names.art:8080/a b/1.json?x=1#frag')
  expect(Buffer.from(response.body).toString()).toBe('{"name":"One"}')
  expect(response.contentType).toBe('application/json')
  expect(seen?.url).toBe('/a%20b/1.json?x=1')
  expect(seen?.headers.host).toBe('nft.names.art:8080')
  expect(Object.keys(seen?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent'
  ])
})

test('names the original host in the TLS handshake and refuses a server that cannot prove it', async () => {
  const names: string[] = []
  const server = createTlsServer({
    SNICallback: (name, done) => {
      names.push(name)
      done(new Error('no certificate'))
    }
  })
  server.on('tlsClientError', () => {})
  const { fetch } = await servedBy(server)
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('CONNECT'))
  expect(names).toEqual(['nft.names.art'])
})

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['identity', (text: string) => Buffer.from(text)]
] as const)('undoes Content-Encoding %s', async (encoding, encode) => {
  const text = JSON.stringify({ name: 'x'.repeat(100_000) })
  const { fetch } = await served((_req, res) => res.setHeader('content-encoding', encoding).end(encode(text)))
  const { body } = await fetch(url)
  expect(Buffer.from(body).toString()).toBe(text)
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync]
] as const)('cuts off a %s bomb', async (encoding, encode) => {
  const bomb = encode(Buffer.alloc(256 * 1024 * 1024))
  expect(bomb.length).toBeLessThan(1024 * 1024)
  const { fetch } = await served((_req, res) => res.setHeader('content-encoding', encoding).end(bomb))
  const before = process.memoryUsage().arrayBuffers
  await expect(fetch(url)).rejects.toMatchObject(reason('TOO_LARGE'))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
})

test.each(['gzip, gzip', 'br', 'zstd', 'compress', 'aes128gcm'])(
  'refuses Content-Encoding %j',
  async encoding => {
    const { fetch } = await served((_req, res) => res.setHeader('content-encoding', encoding).end('x'))
    await expect(fetch(url)).rejects.toMatchObject(reason('ENCODING'))
  }
)

test.each([
  ['no gzip at all', Buffer.from('{"name":"x"}')],
  ['a truncated gzip', gzipSync('x'.repeat(10_000)).subarray(0, 30)]
])('refuses %s that claims to be gzip', async (_what, body) => {
  const { fetch } = await served((_req, res) => res.setHeader('content-encoding', 'gzip').end(body))
  await expect(fetch(url)).rejects.toMatchObject(reason('ENCODING'))
})

test('refuses a large body by its announced length without reading it', async () => {
  const { fetch } = await servedRaw('HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n')
  await expect(fetch(url)).rejects.toMatchObject(reason('TOO_LARGE'))
})

test('cuts off an endless body at the wire limit', async () => {
  let sent = 0
  const { fetch } = await served((_req, res) => {
    const chunk = Buffer.alloc(64 * 1024, 0x20)
    const more = () => {
      while (!res.destroyed && res.write(chunk)) sent += chunk.length
    }
    res.on('drain', more).on('error', () => {})
    more()
  })
  await expect(fetch(url)).rejects.toMatchObject(reason('TOO_LARGE'))
  expect(sent).toBeLessThan(32 * 1024 * 1024)
})

test('accepts a body of exactly the limit and refuses one byte more', async () => {
  const { fetch } = await served((req, res) => res.end(Buffer.alloc(req.url === '/over' ? 1001 : 1000)), {
    limits: { wireBytes: 1000 }
  })
  expect((await fetch('http://nft.names.art/exact')).body.length).toBe(1000)
  await expect(fetch('http://nft.names.art/over')).rejects.toMatchObject(reason('TOO_LARGE'))
})

test.each([
  ['never answers', (_res: ServerResponse) => {}],
  ['never ends its body', (res: ServerResponse) => void res.write('{')],
  [
    'sends one byte now and then',
    (res: ServerResponse) => {
      const timer = setInterval(() => res.write(' '), 10)
      res.on('close', () => clearInterval(timer))
    }
  ]
])('gives up in time on a server that %s', async (_what, answer) => {
  const { fetch } = await served((_req, res) => answer(res), { limits: { timeoutMs: 150 } })
  await expect(fetch(url)).rejects.toMatchObject(reason('TIMEOUT'))
})

test('gives up in time on a name server that never answers', async () => {
  const fetch = createGuardedFetch({ resolvePublic: () => new Promise(() => {}), limits: { timeoutMs: 50 } })
  await expect(fetch(url)).rejects.toMatchObject(reason('TIMEOUT'))
})

test('gives up in time on a TLS handshake that never proceeds', async () => {
  const { fetch } = await servedBy(
    createTcpServer(socket => void socket.on('error', () => {})),
    {
      limits: { timeoutMs: 100 }
    }
  )
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('TIMEOUT'))
})

test('can be aborted, and closes its connection then', async () => {
  let onClosed = () => {}
  const closed = new Promise<void>(resolve => {
    onClosed = resolve
  })
  const controller = new AbortController()
  const { fetch } = await served((req, res) => {
    req.socket.on('close', () => onClosed())
    res.write('{')
    controller.abort()
  })
  await expect(fetch(url, { signal: controller.signal })).rejects.toMatchObject(reason('ABORTED'))
  await closed
  await expect(fetch(url, { signal: AbortSignal.abort() })).rejects.toMatchObject(reason('ABORTED'))
})

test('follows three redirects, each looked up and checked anew', async () => {
  const { fetch, dialled } = await served((req, res) => {
    const step = Number(req.url?.slice(1))
    if (step < 3) res.writeHead(302, { location: `http://hop${step}.names.art/${step + 1}` }).end()
    else res.end('{}')
  })
  expect((await fetch('http://nft.names.art/0')).url).toBe('http://hop2.names.art/3')
  expect(dialled.map(target => target.hostname)).toEqual([
    'nft.names.art',
    'hop0.names.art',
    'hop1.names.art',
    'hop2.names.art'
  ])
})

test('gives up at the fourth redirect', async () => {
  const { fetch, dialled } = await served((_req, res) => res.writeHead(301, { location: '/again' }).end())
  await expect(fetch(url)).rejects.toMatchObject(reason('REDIRECT'))
  expect(dialled).toHaveLength(4)
})

test.each([
  ['http://127.0.0.1/', 'PRIVATE_ADDRESS'],
  ['http://169.254.169.254/latest/meta-data/', 'PRIVATE_ADDRESS'],
  ['//[::ffff:127.0.0.1]/', 'PRIVATE_ADDRESS'],
  ['http://private.names.art/', 'PRIVATE_ADDRESS'],
  ['http://localhost:8545/', 'PORT'],
  ['http://user:pw@nft.names.art/', 'USER_INFO'],
  ['file:///etc/passwd', 'SCHEME'],
  ['ftp://nft.names.art/', 'SCHEME'],
  ['\\\\127.0.0.1\\', 'URL'],
  ['http://', 'REDIRECT'],
  ['', 'REDIRECT']
])('does not follow a redirect to %j', async (location, expected) => {
  const { fetch, dialled } = await served((_req, res) => res.writeHead(302, { location }).end())
  await expect(fetch(url)).rejects.toMatchObject(reason(expected))
  expect(dialled).toHaveLength(1)
})

test('does not wait for the body of a redirect', async () => {
  const { fetch } = await served((req, res) => {
    if (req.url === '/end') return void res.end('{}')
    res.writeHead(302, { location: '/end' }).write('never ending')
  })
  expect(Buffer.from((await fetch(url)).body).toString()).toBe('{}')
})

test.each([204, 206, 304, 400, 401, 404, 429, 500, 503])('status %i is no answer', async status => {
  const { fetch } = await served((_req, res) => res.writeHead(status).end())
  await expect(fetch(url)).rejects.toMatchObject({ context: { reason: 'STATUS', status } })
})

test.each([
  [
    'a body shorter than announced',
    'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n{}',
    true
  ],
  ['something that is not HTTP', '220 smtp.names.art ESMTP\r\n', false],
  ['headers without end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}`, false],
  ['very many headers', `HTTP/1.1 200 OK\r\n${'A: bbbbbbbbbbbbbbb\r\n'.repeat(2_000)}\r\n`, false],
  ['interim answers without end', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(50), false],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    false
  ],
  ['two different lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ', false],
  ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n', false]
])('refuses %s', async (_what, answer, hangUp) => {
  const server = createTcpServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => (hangUp ? socket.end(answer) : socket.write(answer)))
  })
  const { fetch } = await servedBy(server)
  await expect(fetch(url)).rejects.toMatchObject(reason('PROTOCOL'))
})

test('tries the next address when one does not answer', async () => {
  const server = createServer((_req, res) => res.end('{}'))
  const { port } = await servedBy(server)
  const dialled: string[] = []
  const fetch = createGuardedFetch({
    resolvePublic: async () => ['93.184.215.1', '93.184.215.2'],
    dial: (target, signal) => {
      dialled.push(target.address)
      if (dialled.length === 1) return Promise.reject(new Error('refused'))
      return dialAddress({ ...target, address: '127.0.0.1', port }, signal)
    }
  })
  expect((await fetch(url)).body.length).toBe(2)
  expect(dialled).toEqual(['93.184.215.1', '93.184.215.2'])
})

test('reaches a private host by its real address only when the operator allowed it', async () => {
  const server = createServer((_req, res) => res.end('{"local":true}'))
  const { port } = await servedBy(server)
  const local = `http://127.0.0.1:${port}/`
  const open = createGuardedFetch({ allowHosts: [`127.0.0.1:${port}`] })
  expect(Buffer.from((await open(local)).body).toString()).toBe('{"local":true}')
  await expect(createGuardedFetch()(local)).rejects.toMatchObject(reason('PORT'))
})

test('an error shows at most a hundred characters of what a stranger wrote', async () => {
  const { fetch } = await served((_req, res) => res.end())
  const error = (await fetch(`http://nft.names.art:1/${'s'.repeat(5_000)}`).catch(e => e)) as Error
  expect(error.message.length).toBeLessThan(200)
})
