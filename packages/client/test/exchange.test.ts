import { getEventListeners } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../src/index.ts'
import { caught } from './support/caught.ts'
import { address, projectId, serverKey } from './support/credentials.ts'
import { startLoopbackServer } from './support/loopbackServer.ts'
import { transports } from './support/transports.ts'

const answer = '{"jsonrpc":"2.0","id":1,"result":[]}'

/**
 * Milliseconds that a call took to fail.
 *
 * @param call - A function: the deadline of a call has begun before its promise is there.
 */
async function timed(call: () => Promise<unknown>) {
  const startMs = performance.now()
  const error = await caught(call())
  return { error, tookMs: performance.now() - startMs }
}

describe.each(transports)('over %s', (_transport, createClient) => {
  const clientOf = (baseUrl: string, options?: { timeoutMs?: number; maxResponseBytes?: number }) =>
    createClient({ baseUrl, projectId, serverKey, chainId: 1, retries: 0, ...options })

  describe('the deadline', () => {
    test('covers a body that arrives drop by drop', async () => {
      const dripping = new Set<NodeJS.Timeout>()
      await using server = await startLoopbackServer((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' })
        const timer = setInterval(() => response.write(' '), 20)
        dripping.add(timer)
        response.once('close', () => {
          clearInterval(timer)
          dripping.delete(timer)
        })
      })
      const { error, tookMs } = await timed(() =>
        clientOf(server.url, { timeoutMs: 300 }).getTokensAndNFTs({ address })
      )
      expect(error).toMatchObject({ name: 'TransportError', code: 'TIMEOUT', retryable: true })
      expect(error.message).toContain('300 ms')
      expect(tookMs).toBeGreaterThanOrEqual(290)
      expect(tookMs).toBeLessThan(3000)
      // The connection is given up too, not only the promise.
      await expect.poll(() => dripping.size).toBe(0)
    })

    test('covers a server that accepts and says nothing', async () => {
      await using server = await startLoopbackServer(() => {})
      const call = clientOf(server.url).getTransactionsByAddress({ address, timeoutMs: 100 })
      expect((await timed(() => call)).error).toMatchObject({ code: 'TIMEOUT' })
    })

    test('leaves a slow answer within it alone', async () => {
      await using server = await startLoopbackServer((_request, response) => {
        response.writeHead(200)
        response.write(answer.slice(0, 10))
        setTimeout(() => response.end(answer.slice(10)), 50)
      })
      const call = clientOf(server.url, { timeoutMs: 20_000 }).getTransactionsByAddress({ address })
      await expect(call).resolves.toEqual([])
    })
  })

  describe('the signal', () => {
    test('ends a call that waits for headers, and the connection with it', async () => {
      let closed = false
      await using server = await startLoopbackServer((_request, response) => {
        response.once('close', () => {
          closed = true
        })
      })
      const controller = new AbortController()
      const call = clientOf(server.url).getTokensAndNFTs({ address, signal: controller.signal })
      const outcome = caught(call)
      await server.firstRequest
      controller.abort()
      expect(await outcome).toMatchObject({ name: 'TransportError', code: 'ABORTED', retryable: false })
      await expect.poll(() => closed).toBe(true)
    })

    test('ends a call in the middle of its body', async () => {
      await using server = await startLoopbackServer((_request, response) => {
        response.writeHead(200)
        response.write(answer.slice(0, 10))
      })
      const controller = new AbortController()
      const outcome = caught(clientOf(server.url).getTokensAndNFTs({ address, signal: controller.signal }))
      await server.firstRequest
      controller.abort()
      expect(await outcome).toMatchObject({ code: 'ABORTED' })
    })

    test('that fired before sends nothing', async () => {
      await using server = await startLoopbackServer((_request, response) => response.end(answer))
      const call = clientOf(server.url).getTokensAndNFTs({ address, signal: AbortSignal.abort() })
      expect(await caught(call)).toMatchObject({ code: 'ABORTED' })
      expect(server.requests).toHaveLength(0)
    })

    test('shared by many calls keeps no listener of theirs', async () => {
      await using server = await startLoopbackServer((_request, response) => response.end('{}'))
      const { signal } = new AbortController()
      const client = clientOf(server.url)
      await Promise.all(
        Array.from({ length: 20 }, () => caught(client.getTokensAndNFTs({ address, signal })))
      )
      expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    })
  })

  describe('the size limit', () => {
    const limit = 10_000

    test.each([
      ['announced by its length', () => Buffer.alloc(limit + 1, ' '), {}],
      [
        'small only while compressed',
        () => gzipSync(Buffer.alloc(1000 * limit, ' ')),
        { 'Content-Encoding': 'gzip' }
      ]
    ])('cuts off an answer %s', async (_title, makeBody, headers: Record<string, string>) => {
      await using server = await startLoopbackServer((_request, response) => {
        response.writeHead(200, headers).end(makeBody())
      })
      const error = await caught(
        clientOf(server.url, { maxResponseBytes: limit }).getTokensAndNFTs({ address })
      )
      expect(error).toMatchObject({ name: 'TransportError', code: 'RESPONSE_LIMIT', retryable: false })
      expect(error.message).toContain(String(limit))
    })

    test('cuts off an endless answer while it arrives', async () => {
      let closed = false
      await using server = await startLoopbackServer((_request, response) => {
        const pump = () => {
          while (!closed && response.write(Buffer.alloc(4096, ' ')));
        }
        response.writeHead(200).on('drain', pump)
        response.once('close', () => {
          closed = true
        })
        pump()
      })
      const error = await caught(
        clientOf(server.url, { maxResponseBytes: limit }).getTokensAndNFTs({ address })
      )
      expect(error.code).toBe('RESPONSE_LIMIT')
      await expect.poll(() => closed).toBe(true)
    })

    test('lets an answer of exactly its size through', async () => {
      await using server = await startLoopbackServer((_request, response) =>
        response.end(answer.padEnd(limit))
      )
      const call = clientOf(server.url, { maxResponseBytes: limit }).getTransactionsByAddress({ address })
      await expect(call).resolves.toEqual([])
    })
  })

  describe('a redirect', () => {
    test.each([301, 302, 303, 307, 308])('with status %d is not followed', async status => {
      await using other = await startLoopbackServer((_request, response) => response.end(answer))
      await using server = await startLoopbackServer((_request, response) => {
        response.writeHead(status, { Location: `${other.url}/evm-chain` }).end()
      })
      const error = await caught(clientOf(server.url).getTokensAndNFTs({ address }))
      expect(error).toMatchObject({ code: 'HTTP', status })
      expect(other.requests).toHaveLength(0)
    })
  })

  describe('a broken connection', () => {
    const open = new Set<Socket>()
    afterEach(() => {
      for (const socket of open) socket.destroy()
      open.clear()
    })

    /** A server that speaks whatever it is told, once something has arrived. */
    async function startTcpServer(speak: (socket: Socket) => void) {
      const server = createTcpServer(socket => {
        open.add(socket)
        socket.on('error', () => {}).once('data', () => speak(socket))
      })
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      return {
        url: `http://127.0.0.1:${port}`,
        async [Symbol.asyncDispose]() {
          for (const socket of open) socket.destroy()
          await new Promise(resolve => server.close(resolve))
        }
      }
    }

    test.each<[string, (socket: Socket) => void]>([
      ['reset', socket => socket.resetAndDestroy()],
      ['closed without a word', socket => socket.end()],
      ['closed in the headers', socket => socket.end('HTTP/1.1 200 OK\r\nContent-')],
      [
        'closed before the announced length',
        socket => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${answer}`)
      ],
      [
        'closed between chunks',
        socket => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n24\r\n')
      ],
      ['that speaks something else', socket => socket.end('220 mail.example.com ESMTP\r\n')],
      [
        'with damaged compression',
        socket => socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope')
      ]
    ])('%s, is no answer', async (_title, speak) => {
      await using server = await startTcpServer(speak)
      const error = await caught(clientOf(server.url).getTokensAndNFTs({ address }))
      expect(error).toMatchObject({ name: 'TransportError', code: 'NETWORK', retryable: true })
      expect(error.reason).toMatch(/^[A-Z_]+$/)
    })

    test('refused, names the reason of the system', async () => {
      const server = await startLoopbackServer(() => {})
      await server[Symbol.asyncDispose]()
      const error = await caught(clientOf(server.url).getTokensAndNFTs({ address }))
      expect(error).toMatchObject({ code: 'NETWORK', reason: 'ECONNREFUSED', retryable: true })
      expect(error.message).toBe(
        `getTokensAndNFTs: no complete answer from ${server.url} (ECONNREFUSED, attempt 1 of 1)`
      )
    })
  })
})

describe('a proxy of the environment', () => {
  const clientOf = (baseUrl: string) =>
    createClient({ baseUrl, projectId, serverKey, chainId: 1, retries: 0 })
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']
  const before = names.map(name => [name, process.env[name]] as const)
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  function useProxy(url: string): void {
    for (const name of names) process.env[name] = name.toLowerCase() === 'no_proxy' ? '' : url
  }

  test('never sees a plain request, and with it the key', async () => {
    await using proxy = await startLoopbackServer((_request, response) => response.end(answer))
    await using server = await startLoopbackServer((_request, response) => response.end(answer))
    useProxy(proxy.url)
    await expect(clientOf(server.url).getTransactionsByAddress({ address })).resolves.toEqual([])
    expect(proxy.requests).toHaveLength(0)
    expect(server.requests).toHaveLength(1)
  })

  test('gets only the name of the host for https', async () => {
    const seen: string[] = []
    const proxy = createTcpServer(socket => {
      socket
        .on('error', () => {})
        .once('data', data => {
          seen.push(data.toString('latin1'))
          socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
        })
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    useProxy(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    const error = await caught(clientOf('https://rpc.example.com').getTokensAndNFTs({ address }))
    await new Promise(resolve => proxy.close(resolve))
    // The proxy's refusal is an answer of its own kind.
    expect(error).toMatchObject({ code: 'HTTP', status: 403 })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatch(/^CONNECT rpc\.example\.com:443 HTTP\/1\.1\r\n/)
    expect(seen[0]).not.toMatch(/\r\nauthorization:/i)
  })
})
