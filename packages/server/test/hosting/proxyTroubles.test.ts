import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { ProxyOptions } from '../../src/server/proxy/index.ts'
import { startTarget } from './startProxy.ts'
import { call, post, useProxies } from './useProxies.ts'

const { proxyTo, atEnd } = useProxies()

describe('when the service cannot answer, the page gets 503 and the host is told why', () => {
  const html = '<html>demo-server-key</html>'
  const json = { 'content-type': 'application/json' }
  it.each<[string, RegExp, Parameters<typeof startTarget>[0], Partial<ProxyOptions>?]>([
    [
      'the key is refused',
      /HTTP 401/,
      (_q, s) => s.writeHead(401, { ...json, 'www-authenticate': 'Basic' }).end('{}')
    ],
    [
      'it redirects',
      /HTTP 302/,
      (_q, s) => s.writeHead(302, { ...json, location: 'http://127.0.0.1:1/' }).end('{}')
    ],
    [
      'a gateway answers 502',
      /HTTP 502/,
      (_q, s) => s.writeHead(502, { 'content-type': 'text/html' }).end(html)
    ],
    [
      'a page comes with status 200',
      /HTTP 200/,
      (_q, s) => s.setHeader('content-type', 'text/html').end(html)
    ],
    [
      'an answer is packed',
      /HTTP 200/,
      (_q, s) => s.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('x')
    ],
    ['it sends no HTTP', /cannot be reached \(HPE/, q => q.socket.end('hello\r\n\r\n')],
    [
      'it changes to another protocol',
      /cannot be reached \(NO_ANSWER/,
      q => q.socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    ],
    ['it hangs up', /cannot be reached \(ECONNRESET/, q => q.socket.destroy()],
    [
      'it breaks off',
      /broke off its answer \(ECONNRESET/,
      (_q, s) => {
        s.setHeader('content-type', 'application/json').write('{', () => s.destroy())
      }
    ],
    ['it never answers', /ANSWER_TIMEOUT/, () => {}, { answerTimeoutMs: 50 }],
    [
      'it stops in the middle',
      /IDLE_TIMEOUT/,
      (_q, s) => {
        s.setHeader('content-type', 'application/json').write('{')
      },
      { idleTimeoutMs: 50 }
    ]
  ])('%s', async (_what, problem, answer, options) => {
    const target = await startTarget(answer)
    atEnd(target.close)
    const { url, problems } = await proxyTo(target.url, options)
    const response = await post(`${url}/evm-chain`, call)
    const text = await response.text()
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(JSON.parse(text)).toMatchObject({
      id: null,
      error: { code: -32002, data: { reason: 'OVERLOADED' } }
    })
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(problems).toEqual([expect.stringMatching(problem)])
    expect(problems + text).not.toMatch(/demo-server-key|127\.0\.0\.1/)
    // The one time that a connection is used again is for those that rested.
    expect(target.received).toHaveLength(1)
  })

  it('nothing listens', async () => {
    const { url, problems } = await proxyTo('http://127.0.0.1:1')
    expect((await post(`${url}/evm-chain`, call)).status).toBe(503)
    expect(problems).toEqual(['the service cannot be reached (ECONNREFUSED)'])
  })

  it('a connection does not come about', async () => {
    const silent = createTcpServer(socket => socket.on('error', () => {}))
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    atEnd(() => silent.close())
    const { port } = silent.address() as { port: number }
    const { url, problems } = await proxyTo(`https://127.0.0.1:${port}`, { connectTimeoutMs: 50 })
    expect((await post(`${url}/evm-chain`, call)).status).toBe(503)
    expect(problems).toEqual(['the service cannot be reached (CONNECT_TIMEOUT)'])
  })
})

it('an answer is given also when the report of a problem fails', async () => {
  const { url } = await proxyTo('http://127.0.0.1:1', {
    onProblem: () => {
      throw new Error('the log is full')
    }
  })
  expect((await post(`${url}/evm-chain`, call)).status).toBe(503)
})
