import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError, NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import { createEvmRpc, type EvmRpc, type EvmRpcOptions } from './rpc.ts'

type Message = { id: number; method: string; params: unknown[] }
type Handler = (body: Message | Message[], response: ServerResponse, request: IncomingMessage) => void

const cleanUps: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function serve(handler: Handler): Promise<{ url: string; bodies: (Message | Message[])[] }> {
  const bodies: (Message | Message[])[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Message | Message[]
      // Who it is, is asked after each connection; the tests below are about what comes then.
      if (Array.isArray(body) && body[0]?.method === 'eth_chainId') {
        json(response, [
          result(body[0], '0x7a69'),
          result(body[1]!, { number: '0x0', hash: `0x${'9'.repeat(64)}` })
        ])
        return
      }
      // And looks at the head come whenever there are several upstreams.
      if (!Array.isArray(body) && body.method === 'eth_blockNumber') {
        json(response, result(body, '0x1'))
        return
      }
      bodies.push(body)
      handler(body, response, request)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(() => resolve()))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

function connect(rpcUrls: string[], options: Partial<EvmRpcOptions> = {}): EvmRpc {
  const rpc = createEvmRpc({ chainId: 31337, rpcUrls, ...options })
  cleanUps.push(() => rpc.close())
  return rpc
}

const json = (response: ServerResponse, value: unknown, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
const result = (message: Message, value: unknown) => ({ jsonrpc: '2.0', id: message.id, result: value })
const failure = (message: Message, code: number, text: string, data?: unknown) => ({
  jsonrpc: '2.0',
  id: message.id,
  error: { code, message: text, data }
})
const one = (body: Message | Message[]) => {
  if (Array.isArray(body)) throw new Error('expected a single call')
  return body
}
/** Answers every call with its first parameter, singly or in a batch (in reverse order: matching is by id). */
const echo: Handler = (body, response) => {
  json(
    response,
    Array.isArray(body) ? body.map(m => result(m, m.params[0])).reverse() : result(body, body.params[0])
  )
}
const calls = (count: number) => Array.from({ length: count }, (_, i) => ({ method: 'echo', params: [i] }))
const values = (outcomes: readonly { ok: boolean; value?: unknown }[]) => outcomes.map(o => o.value)

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('expected a failure')
    },
    (error: Error) => error
  )
}

describe('request', () => {
  it('returns the raw result, null included', async () => {
    const { url } = await serve(echo)
    expect(await connect([url]).request({ method: 'echo', params: [{ a: '0x01' }] })).toEqual({ a: '0x01' })
    expect(await connect([url]).request({ method: 'echo', params: [null] })).toBe(null)
  })

  it('turns an error of the node into NodeRpcError with its data, under any HTTP status, and does not retry', async () => {
    for (const status of [200, 400, 500]) {
      const { url, bodies } = await serve((body, response) =>
        json(response, failure(one(body), 3, 'execution reverted', '0x08c379a0'), status)
      )
      const error = await failureOf(connect([url]).request({ method: 'eth_call', params: [] }))
      expect(error).toBeInstanceOf(NodeRpcError)
      expect(error).toMatchObject({ rpcCode: 3, rpcData: '0x08c379a0' })
      expect(bodies).toHaveLength(1)
    }
  })

  it('repeats after 503, a reset and a 429, and honours Retry-After', async () => {
    let count = 0
    const times: number[] = []
    const { url } = await serve((body, response, request) => {
      times.push(performance.now())
      count++
      if (count === 1) response.writeHead(503).end('busy')
      else if (count === 2) request.socket.destroy()
      else if (count === 3) response.writeHead(429, { 'retry-after': '1' }).end()
      else json(response, result(one(body), 'done'))
    })
    expect(await connect([url]).request({ method: 'x', params: [] })).toBe('done')
    expect(times).toHaveLength(4)
    expect(times[3]! - times[2]!).toBeGreaterThanOrEqual(990)
  })

  it('fails at once when Retry-After lies beyond the deadline', async () => {
    const { url, bodies } = await serve((_, response) =>
      response.writeHead(429, { 'retry-after': '3600' }).end()
    )
    const rpc = connect([url], { timeoutMs: 5_000 })
    const started = performance.now()
    const error = await failureOf(rpc.request({ method: 'x', params: [] }))
    expect(error).toBeInstanceOf(NodeUnavailableError)
    expect(error).toMatchObject({ context: { fault: 'throttled', retryAfterMs: 3_600_000 } })
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(bodies).toHaveLength(1)
  })

  it('gives up after a bounded number of attempts', async () => {
    const { url, bodies } = await serve((_, response) => response.writeHead(502).end('<html>'))
    const error = await failureOf(connect([url], { maxAttempts: 3 }).request({ method: 'x', params: [] }))
    expect(error).toBeInstanceOf(NodeUnavailableError)
    expect(error).toMatchObject({ retryable: true, context: { httpStatus: 502, method: 'x' } })
    expect(bodies).toHaveLength(3)
  })

  it.each([
    ['HTML with status 200', '<html>maintenance</html>'],
    ['JSON that is not JSON-RPC', '{"hello":1}'],
    ['a bare null', 'null'],
    ['an answer to another call', '{"jsonrpc":"2.0","id":999999,"result":1}']
  ])('refuses %s', async (_, text) => {
    const { url } = await serve((_body, response) => response.end(text))
    const error = await failureOf(connect([url], { maxAttempts: 1 }).request({ method: 'x', params: [] }))
    expect(error).toMatchObject({ name: 'NodeUnavailableError', context: { fault: 'malformed' } })
  })

  it('bounds the whole exchange, also while a body drips', async () => {
    const { url } = await serve((_, response) => {
      response.write('{"jsonrpc":')
      const drip = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(drip))
    })
    const started = performance.now()
    const error = await failureOf(connect([url]).request({ method: 'x', params: [] }, { timeoutMs: 200 }))
    expect(error).toBeInstanceOf(NodeUnavailableError)
    expect(error.message).toContain('did not answer in time')
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  it('cuts off an answer that is too large, declared or not', async () => {
    const long = JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(5000) })
    for (const headers of [{ 'content-length': String(long.length) }, {}]) {
      const { url, bodies } = await serve((_, response) => {
        response.writeHead(200, headers)
        response.write(long.slice(0, 10))
        response.end(long.slice(10))
      })
      const error = await failureOf(
        connect([url], { maxResponseBytes: 4096 }).request({ method: 'x', params: [] })
      )
      expect(error).toMatchObject({ context: { fault: 'tooLarge' } })
      expect(bodies).toHaveLength(1)
    }
  })

  it('does not follow a redirect', async () => {
    const target = await serve(echo)
    const { url } = await serve((_, response) => response.writeHead(307, { location: target.url }).end())
    const error = await failureOf(connect([url]).request({ method: 'x', params: [1] }))
    expect(error).toMatchObject({ context: { fault: 'refused', httpStatus: 307 } })
    expect(target.bodies).toHaveLength(0)
  })

  it('rejects with the reason of an aborted signal', async () => {
    const { url } = await serve(() => undefined)
    const abort = new AbortController()
    const pending = failureOf(connect([url]).request({ method: 'x', params: [] }, { signal: abort.signal }))
    const reason = new Error('no longer wanted')
    abort.abort(reason)
    expect(await pending).toBe(reason)
  })

  it('ends calls under way when it is closed, and refuses later ones', async () => {
    const { url } = await serve(() => undefined)
    const rpc = connect([url])
    const pending = failureOf(rpc.request({ method: 'x', params: [] }))
    rpc.close()
    expect(await pending).toBeInstanceOf(NodeUnavailableError)
    expect(await failureOf(rpc.request({ method: 'x', params: [] }))).toBeInstanceOf(NodeUnavailableError)
  })

  it('sends credentials of the URL as Basic authorization and never repeats any part of the URL', async () => {
    let authorization: string | undefined
    const { url } = await serve((_, response, request) => {
      authorization = request.headers.authorization
      response.writeHead(401).end()
    })
    const secret = `${url.replace('http://', 'http://us%C3%A9r:pass-word@')}/v3/API-KEY?token=TOKEN`
    const error = await failureOf(connect([secret]).request({ method: 'x', params: [] }))
    expect(authorization).toBe(`Basic ${Buffer.from('usér:pass-word').toString('base64')}`)
    const everything = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`
    for (const part of ['pass-word', 'API-KEY', 'TOKEN', '/v3']) expect(everything).not.toContain(part)
  })
})

describe('fail-over', () => {
  it('moves on to the next upstream and stays there', async () => {
    const broken = await serve((_, response) => response.writeHead(500).end())
    const good = await serve(echo)
    const rpc = connect([broken.url, good.url])
    for (let i = 0; i < 3; i++) expect(await rpc.request({ method: 'x', params: [i] })).toBe(i)
    expect(broken.bodies).toHaveLength(1)
    expect(good.bodies).toHaveLength(3)
  })

  it('leaves an upstream that never answers in time for another one', async () => {
    const silent = await serve(() => undefined)
    const good = await serve(echo)
    const rpc = connect([silent.url, good.url], { timeoutMs: 1_000 })
    expect(await rpc.request({ method: 'x', params: ['a'] })).toBe('a')
  })

  it('names the upstream by its place when none is left', async () => {
    const down = await serve(echo)
    for (const cleanUp of cleanUps.splice(0)) await cleanUp()
    const error = await failureOf(connect([down.url]).request({ method: 'eth_chainId', params: [] }))
    expect(error.message).toBe('chain 31337: eth_chainId: upstream 1 cannot be reached (ECONNREFUSED)')
  })
})

describe('batch', () => {
  it('matches answers by id and keeps the order of the calls over several requests', async () => {
    const { url, bodies } = await serve(echo)
    const outcomes = await connect([url], { maxBatchCalls: 10 }).batch(calls(35))
    expect(values(outcomes)).toEqual(calls(35).map(call => call.params[0]))
    expect(bodies.map(body => (body as Message[]).length)).toEqual([10, 10, 10, 5])
  })

  it('lets entries fail alone', async () => {
    const { url } = await serve((body, response) =>
      json(
        response,
        (body as Message[]).map(m =>
          m.params[0] === 1 ? failure(m, -32000, 'nope') : result(m, m.params[0])
        )
      )
    )
    const outcomes = await connect([url]).batch(calls(3))
    expect(values(outcomes)).toEqual([0, undefined, 2])
    expect(outcomes[1]).toMatchObject({ ok: false, error: { rpcCode: -32000 } })
  })

  it.each<[string, (body: Message[], response: ServerResponse) => void]>([
    [
      'an error object',
      (_, response) => json(response, { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'x' } })
    ],
    ['HTTP 400', (_, response) => response.writeHead(400).end('bad request')],
    [
      'one error under the first id',
      (body, response) => json(response, [failure(body[0]!, -32600, 'batch too large')])
    ],
    ['an empty list', (_, response) => json(response, [])]
  ])('falls back to single calls when batches are refused with %s', async (_, refuse) => {
    const { url } = await serve((body, response, request) =>
      Array.isArray(body) ? refuse(body, response) : echo(body, response, request)
    )
    expect(values(await connect([url]).batch(calls(20)))).toEqual(calls(20).map(call => call.params[0]))
  })

  it('learns the largest batch that a node takes', async () => {
    const { url, bodies } = await serve((body, response, request) => {
      if (Array.isArray(body) && body.length > 25)
        json(response, failure(body[0]!, -32005, 'batch limit 25 exceeded'))
      else echo(body, response, request)
    })
    const rpc = connect([url])
    expect(values(await rpc.batch(calls(100)))).toEqual(calls(100).map(call => call.params[0]))
    bodies.length = 0
    await rpc.batch(calls(100))
    expect(bodies.map(body => (body as Message[]).length)).toEqual([25, 25, 25, 25])
  })

  it('asks again only for what was throttled', async () => {
    const asked: number[] = []
    let first = true
    const { url } = await serve((body, response) => {
      const messages = [body].flat()
      asked.push(messages.length)
      const answers = messages.map((m, i) =>
        first && i % 2 === 1 ? failure(m, 429, 'too many requests per second') : result(m, m.params[0])
      )
      first = false
      json(response, answers)
    })
    expect(values(await connect([url]).batch(calls(10)))).toEqual(calls(10).map(call => call.params[0]))
    expect(asked).toEqual([10, 5])
  })

  it('halves a batch whose answer is too large', async () => {
    const { url } = await serve(echo)
    const big = Array.from({ length: 8 }, () => ({ method: 'echo', params: ['y'.repeat(1000)] }))
    const outcomes = await connect([url], { maxResponseBytes: 3000 }).batch(big)
    expect(outcomes.every(outcome => outcome.ok)).toBe(true)
  })

  it('never mixes the answers of two upstreams', async () => {
    let requests = 0
    const first = await serve((body, response) => {
      if (++requests > 1) response.writeHead(500).end()
      else
        json(
          response,
          (body as Message[]).map(m => result(m, 'first'))
        )
    })
    const second = await serve((body, response) =>
      json(
        response,
        (body as Message[]).map(m => result(m, 'second'))
      )
    )
    const outcomes = await connect([first.url, second.url], { maxBatchCalls: 5 }).batch(calls(20))
    expect(new Set(values(outcomes))).toEqual(new Set(['second']))
  })

  it('answers an empty batch without a call', async () => {
    expect(await connect(['http://127.0.0.1:1']).batch([])).toEqual([])
  })
})

describe('createEvmRpc', () => {
  it.each(['not a url KEY', 'ws://host/KEY', 'file:///KEY'])('refuses %s without repeating it', url => {
    expect(() => createEvmRpc({ chainId: 1, rpcUrls: ['http://a', url] })).toThrow(ConfigError)
    expect(() => createEvmRpc({ chainId: 1, rpcUrls: ['http://a', url] })).toThrow(/^rpcUrls\[1\](?!.*KEY)/)
  })

  it('refuses an empty list', () => {
    expect(() => createEvmRpc({ chainId: 1, rpcUrls: [] })).toThrow(ConfigError)
  })
})
