import { getEventListeners } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { eventually } from '@chain-data/index/test'
import { afterEach, describe, expect, test } from 'vitest'
import { createGuardedFetch, type GuardedFetchOptions } from '../../src/features/metadata/guardedFetch.ts'
import { dialAddress } from '../../src/platform/network/dialAddress.ts'
import { createCertificate } from './createCertificate.ts'

const url = 'http://nft.names.art/1.json'
const reason = (expected: string) => ({ name: 'MetadataError', context: { reason: expected } })
const open = new Set<Socket>()
const servers: Server[] = []

afterEach(async () => {
  for (const socket of open) socket.destroy()
  for (const server of servers.splice(0)) await new Promise(resolve => server.close(resolve))
})

/** A fetcher that believes the server to be public; `open` holds the sockets that the server still has. */
async function servedBy(server: Server, options: GuardedFetchOptions = {}) {
  servers.push(server)
  server.on('connection', socket => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return createGuardedFetch({
    resolvePublic: async () => ['93.184.215.14'],
    readInterfaces: () => ({}),
    dial: (target, signal) => dialAddress({ ...target, address: '127.0.0.1', port }, signal),
    ...options
  })
}

/** A server that answers every connection with the same bytes and then stays silent. */
const servedRaw = (answer: string | Buffer, options?: GuardedFetchOptions) =>
  servedBy(
    createTcpServer(socket => void socket.once('data', () => socket.write(answer))),
    options
  )

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
const small = Buffer.from('{"a":1}')

function encoded(encoding: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = `${ok}Content-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

describe('an answer is refused that', () => {
  test.each([
    ['has no head at all, as in HTTP/0.9', '{"a":1}', 'PROTOCOL'],
    ['is of a version that is not spoken', 'HTTP/3.0 200 OK\r\nContent-Length: 2\r\n\r\n{}', 'PROTOCOL'],
    ['is of another protocol', 'ICY 200 OK\r\n\r\n{}', 'PROTOCOL'],
    ['ends lines its own way', 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}', 'PROTOCOL'],
    ['gives a length and chunks', `${ok}Content-Length: 2\r\n${chunked.slice(ok.length)}2\r\n{}\r\n0\r\n\r\n`, 'PROTOCOL'],
    ['gives a negative length', `${ok}Content-Length: -2\r\n\r\n{}`, 'PROTOCOL'],
    ['gives a length with a sign', `${ok}Content-Length: +2\r\n\r\n{}`, 'PROTOCOL'],
    ['gives a length beyond 64 bits', `${ok}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`, 'PROTOCOL'],
    ['has a zero byte in a header', `${ok}X: a\0b\r\nContent-Length: 2\r\n\r\n{}`, 'PROTOCOL'],
    ['has a space before a colon', `${ok}Content-Length : 2\r\n\r\n{}`, 'PROTOCOL'],
    ['has trailers without end', `${chunked}2\r\n{}\r\n0\r\n${'A: bbbbbbbbbbbbbbb\r\n'.repeat(20_000)}`, 'PROTOCOL'],
    ['has a chunk extension without end', `${chunked}2;${'a'.repeat(300_000)}`, 'PROTOCOL'],
    ['has a chunk size without end', `${chunked}${'0'.repeat(3_000_000)}`, 'TOO_LARGE'],
    ['comes in chunks of one byte', `${chunked}${'1\r\n \r\n'.repeat(1_000_000)}`, 'TOO_LARGE'],
    ['announces a web socket', `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n`, 'PROTOCOL'],
    ['goes on after its gzip', encoded('gzip', gzipSync(small), Buffer.from('garbage')), 'ENCODING'],
    ['has nothing behind its encoding', encoded('gzip'), 'ENCODING'],
    ['is packed with brotli, which was not asked for', encoded('br', brotliCompressSync(small)), 'ENCODING'],
    ['names an encoding twice', encoded('gzip\r\nContent-Encoding: gzip', gzipSync(gzipSync(small))), 'ENCODING'],
    ['is a bomb in many members', encoded('gzip', ...Array(40).fill(gzipSync(Buffer.alloc(100_000)))), 'TOO_LARGE']
  ] as const)('%s', async (_what, answer, expected) => {
    const fetch = await servedRaw(answer)
    await expect(fetch(url)).rejects.toMatchObject(reason(expected))
  }) // biome-ignore format: a table
})

describe('an answer is taken as', () => {
  test.each([
    ['the members of a gzip in a row', encoded('gzip', gzipSync('{"a"'), gzipSync(':1}'))],
    ['a gzip without the zeros behind it', encoded('gzip', gzipSync(small), Buffer.alloc(1_000))],
    ['a deflate without what follows it', encoded('deflate', deflateSync(small), Buffer.from('garbage'))],
    [
      'the first of two on one connection',
      `${ok}Content-Length: 7\r\n\r\n{"a":1}${ok}Content-Length: 9\r\n\r\n{"evil":1}`
    ],
    ['a body without its trailers', `${chunked}7\r\n{"a":1}\r\n0\r\nContent-Type: evil\r\nX: y\r\n\r\n`]
  ])('%s', async (_what, answer) => {
    const fetch = await servedRaw(answer)
    const { body, contentType } = await fetch(url)
    expect([Buffer.from(body).toString(), contentType]).toEqual(['{"a":1}', ''])
  })
})

describe('TLS', () => {
  const handler = (_req: IncomingMessage, res: ServerResponse) => void res.end('{}')
  const withTls = (hostname: string) => {
    const certificate = createCertificate(hostname)
    const app = createServer(handler)
    const server = createTlsServer(certificate, socket => void app.emit('connection', socket))
    server.on('tlsClientError', () => {})
    return { server, certificate }
  }

  async function trusting<T>(cert: string, work: () => Promise<T>): Promise<T> {
    const before = getCACertificates('default')
    setDefaultCACertificates([...before, cert])
    try {
      return await work()
    } finally {
      setDefaultCACertificates(before)
    }
  }

  test('a server that signed its certificate itself is refused, also where the process trusts everybody', async () => {
    const { server } = withTls('nft.names.art')
    const fetch = await servedBy(server)
    const careless = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('CONNECT'))
    } finally {
      if (careless === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = careless
    }
  })

  test('a trusted certificate proves the name in the URL and no other', async () => {
    const { server, certificate } = withTls('nft.names.art')
    const fetch = await servedBy(server)
    await trusting(certificate.cert, async () => {
      expect(Buffer.from((await fetch('https://nft.names.art/')).body).toString()).toBe('{}')
      await expect(fetch('https://other.names.art/')).rejects.toMatchObject(reason('CONNECT'))
      await expect(fetch('https://93.184.215.14/')).rejects.toMatchObject(reason('CONNECT'))
    })
  })

  test('what a connection brings is counted below TLS too', async () => {
    const certificate = createCertificate('nft.names.art')
    const server = createTlsServer(certificate, socket => {
      socket.on('error', () => {}).once('data', () => socket.write(chunked + '0'.repeat(3_000_000)))
    })
    const fetch = await servedBy(server)
    await trusting(certificate.cert, async () => {
      await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('TOO_LARGE'))
    })
  })

  test('a redirect from https to http is not followed, one from http to https is', async () => {
    const certificate = createCertificate('nft.names.art')
    const asked: string[] = []
    const app = createServer((req, res) => {
      asked.push(req.url ?? '')
      const next = { '/down': 'http://nft.names.art/end', '/up': 'https://nft.names.art/end' }[req.url ?? '']
      if (next === undefined) res.end('{}')
      else res.writeHead(302, { location: next }).end()
    })
    const tls = createTlsServer(certificate, socket => void app.emit('connection', socket))
    // One port for both: a TLS handshake begins with byte 22.
    const both = createTcpServer(socket => {
      socket.once('readable', () => {
        const first = socket.read(1) as Buffer | null
        if (first === null) return
        socket.unshift(first)
        const target = first[0] === 22 ? tls : app
        target.emit('connection', socket)
      })
    })
    const fetch = await servedBy(both)
    await trusting(certificate.cert, async () => {
      await expect(fetch('https://nft.names.art/down')).rejects.toMatchObject(reason('REDIRECT'))
      expect((await fetch('http://nft.names.art/up')).url).toBe('https://nft.names.art/end')
    })
    expect(asked).toEqual(['/down', '/up', '/end'])
  })
})

/** What keeps the process alive, but for the test's own servers. */
const resources = () => {
  const counted = process.getActiveResourcesInfo().filter(name => /TCPSocketWrap|TLSWrap|Timeout|Zlib|DNS/i.test(name))
  return counted.length
} // biome-ignore format: one line

describe('nothing is left over', () => {
  const phases: Readonly<Record<string, (signalNow: () => void) => Server>> = {
    'before the head': abort => createServer((_req, _res) => abort()),
    'inside the head': abort =>
      createTcpServer(socket => void socket.once('data', () => socket.write(`${ok}X: `, () => abort()))),
    'between interim answers': abort =>
      createTcpServer(
        socket => void socket.once('data', () => socket.write('HTTP/1.1 103 A\r\n\r\n', () => abort()))
      ),
    'inside the body': abort => createServer((_req, res) => void res.write('{', () => abort())),
    'inside a packed body': abort =>
      createServer((_req, res) => {
        res.writeHead(200, { 'content-encoding': 'gzip' })
        res.write(gzipSync(Buffer.alloc(50_000)).subarray(0, 40), () => abort())
      }),
    'after a redirect': abort =>
      createServer((req, res) => {
        if (req.url === '/second') abort()
        else res.writeHead(302, { location: '/second' }).end()
      })
  }

  test.each(Object.keys(phases))('when the caller gives up %s', async phase => {
    const before = resources()
    const controller = new AbortController()
    const server = phases[phase]?.(() => controller.abort())
    if (server === undefined) throw new Error(`no phase ${phase}`)
    const fetch = await servedBy(server)
    await expect(fetch(url, { signal: controller.signal })).rejects.toMatchObject(reason('ABORTED'))
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await eventually('every socket closed', () => open.size === 0)
    await eventually('nothing left', () => resources() <= before)
  })

  test('when the caller gives up during the handshake', async () => {
    const controller = new AbortController()
    const fetch = await servedBy(
      createTcpServer(socket => void socket.once('data', () => controller.abort()))
    )
    await expect(fetch('https://nft.names.art/', { signal: controller.signal })).rejects.toMatchObject(
      reason('ABORTED')
    )
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await eventually('every socket closed', () => open.size === 0)
  })

  test('when the caller gives up while the name is looked up', async () => {
    const controller = new AbortController()
    const fetch = createGuardedFetch({
      resolvePublic: () => {
        controller.abort()
        return new Promise(() => {})
      }
    })
    await expect(fetch(url, { signal: controller.signal })).rejects.toMatchObject(reason('ABORTED'))
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test.each([
    ['was read', `${ok}Content-Length: 2\r\n\r\n{}`],
    ['is an error', 'HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot read'],
    ['is a redirect that leads nowhere', 'HTTP/1.1 302 Found\r\nContent-Length: 9\r\n\r\nnot read']
  ])('when the answer %s and the server keeps its connection open', async (_what, answer) => {
    const fetch = await servedRaw(answer)
    await fetch(url).catch(() => {})
    await eventually('every socket closed', () => open.size === 0)
  })

  test('after fetches of every outcome, and no connection is used twice', async () => {
    const before = resources()
    let connections = 0
    const server = createServer((req, res) => {
      const way = req.url
      if (way === '/redirect') res.writeHead(302, { location: '/good' }).end('never read')
      else if (way === '/lost') res.writeHead(404).end('x'.repeat(100_000))
      else if (way === '/large') res.end(Buffer.alloc(2_000_000))
      else if (way === '/packed') res.writeHead(200, { 'content-encoding': 'br' }).end('no brotli')
      else if (way === '/reset') req.socket.resetAndDestroy()
      else res.writeHead(200, { connection: 'keep-alive' }).end('{}')
    })
    server.on('connection', () => connections++)
    const fetch = await servedBy(server)
    const controller = new AbortController()
    const ways = ['good', 'redirect', 'lost', 'large', 'packed', 'reset', 'good']
    const outcomes = []
    for (const way of ways) {
      outcomes.push(
        await fetch(`http://nft.names.art/${way}`, { signal: controller.signal }).then(
          () => 'done',
          (error: { context: { reason: string } }) => error.context.reason
        )
      )
    }
    expect(outcomes).toEqual(['done', 'done', 'STATUS', 'TOO_LARGE', 'ENCODING', 'PROTOCOL', 'done'])
    expect(connections).toBe(ways.length + 1)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await eventually('every socket closed', () => open.size === 0)
    await eventually('nothing left', () => resources() <= before)
  })
})
