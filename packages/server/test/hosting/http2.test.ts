import { once } from 'node:events'
import http2, { type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import {
  address,
  authorization,
  request,
  type ServiceChanges,
  startService,
  statusHandlers
} from '../http/startService.ts'

const call = request('svc_getSyncStatus', [])

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A host that speaks HTTP/2 without TLS, and one connection to it. */
async function connectTo(handler: unknown) {
  const host = http2.createServer(handler as Parameters<typeof http2.createServer>[0])
  await once(host.listen(0, '127.0.0.1'), 'listening')
  const session = http2.connect(`http://127.0.0.1:${(host.address() as AddressInfo).port}`)
  session.on('error', () => {})
  cleanUps.push(() => {
    session.destroy()
    host.close()
  })
  return session
}

const post = { ':method': 'POST', ':path': '/evm-chain', 'content-type': 'application/json' }

/** The status, the whole text, and whether the stream came to a good end. */
async function read(stream: ClientHttp2Stream) {
  let status: unknown
  let text = ''
  stream.on('response', headers => {
    status = headers[':status']
  })
  stream.on('error', () => {}).setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    text += chunk
  })
  await once(stream, 'close')
  return { status, text, isWhole: stream.rstCode === http2.constants.NGHTTP2_NO_ERROR }
}

/** A service in an HTTP/2 host. */
async function serve(changes: ServiceChanges = { handlers: statusHandlers }) {
  const service = startService(changes)
  const session = await connectTo(service.nodeHandler)
  const ask = (body: string, headers: OutgoingHttpHeaders = {}) => {
    const stream = session.request({ ...post, authorization, ...headers })
    stream.end(body)
    return read(stream)
  }
  return { service, session, ask }
}

function endlessHistory() {
  const seen = { made: 0, released: 0 }
  async function* chunks() {
    for (; ; seen.made++) yield ['x'.repeat(65_533)]
  }
  const changes: ServiceChanges = {
    handlers: {
      svc_getTransactionsByAddress: async () =>
        new ResultStream(chunks(), async () => {
          seen.released++
        }) as never
    }
  }
  return { seen, changes }
}

const history = request('svc_getTransactionsByAddress', [address])

describe('a host that speaks HTTP/2', () => {
  it('is answered, and refused, as over HTTP/1', async () => {
    const { ask } = await serve({ handlers: statusHandlers, limits: { bodyBytes: 1_000 } })
    const answered = await ask(call)
    expect(answered).toMatchObject({ status: 200, isWhole: true })
    expect(JSON.parse(answered.text)).toMatchObject({ result: { chainId: 1 } })
    expect((await ask(call, { authorization: 'Basic eDp4' })).status).toBe(401)
    expect((await ask(call, { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await ask(' '.repeat(1_001))).status).toBe(413)
  })

  it('hears no warning of Node while the service closes', async () => {
    const { ask, service } = await serve()
    const warnings: Error[] = []
    const listener = (warning: Error) => warnings.push(warning)
    process.on('warning', listener)
    cleanUps.push(() => process.off('warning', listener))
    service.beginDraining()
    expect((await ask(call)).status).toBe(200)
    await new Promise(resolve => setImmediate(resolve))
    expect(warnings).toEqual([])
  })

  it('gets a long answer whole', async () => {
    const pieces = 40
    const { ask } = await serve({
      handlers: {
        svc_getTransactionsByAddress: async () => {
          async function* chunks() {
            for (let made = 0; made < pieces; made++) yield [JSON.stringify('x'.repeat(65_536))]
          }
          return new ResultStream(chunks(), async () => {}) as never
        }
      }
    })
    const { text, isWhole } = await ask(history)
    expect(isWhole).toBe(true)
    expect(JSON.parse(text).result).toHaveLength(pieces)
  })

  it('ends the work for a caller that leaves, and for one that takes nothing', async () => {
    const { seen, changes } = endlessHistory()
    const { service, session } = await serve({ ...changes, limits: { streamIdleMs: 200 } })
    const leaving = session.request({ ...post, authorization })
    leaving.on('error', () => {}).end(history)
    await once(leaving, 'response')
    leaving.close(http2.constants.NGHTTP2_CANCEL)
    await expect.poll(() => [seen.released, service.inFlight()]).toEqual([1, 0])
    const idle = session.request({ ...post, authorization })
    idle.on('error', () => {}).end(history)
    await expect.poll(() => [seen.released, service.inFlight()], { timeout: patient(5_000) }).toEqual([2, 0])
    // The other streams of the connection go on.
    const health = session.request({ ':path': '/health/live' })
    expect((await read(health)).status).toBe(200)
  })
})
