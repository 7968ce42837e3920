import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { address, request, type ServiceChanges } from '../http/startService.ts'
import { startTarget } from './startProxy.ts'
import { call, ownPage, useProxies } from './useProxies.ts'

const { proxyTo, proxyToService, atEnd } = useProxies()

/** Opens a request whose answer is read by hand. */
async function open(url: string, body: string): Promise<IncomingMessage> {
  const outgoing = httpRequest(url, { method: 'POST', headers: ownPage, agent: false })
  outgoing.on('error', () => {}).end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  return incoming.on('error', () => {})
}

/** Waits until a number has not changed for a while. */
async function settled(read: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = read()
    if (now === last) return now
    last = now
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

describe('a long answer', () => {
  const pieces = 1_024
  const pieceBytes = 65_536

  /** A history of 64 MB, and how much of it was asked for. */
  function longHistory() {
    const seen = { made: 0, released: 0 }
    const changes: ServiceChanges = {
      handlers: {
        svc_getTransactionsByAddress: async () => {
          async function* chunks() {
            for (; seen.made < pieces; seen.made++) yield ['x'.repeat(pieceBytes - 3)]
          }
          return new ResultStream(chunks(), async () => {
            seen.released++
          }) as never
        }
      }
    }
    return { seen, changes }
  }
  const whole = request('svc_getTransactionsByAddress', [address])

  it('is made only as fast as a slow page reads it, and arrives whole', async () => {
    const { seen, changes } = longHistory()
    const { url, service } = await proxyToService(changes)
    const incoming = await open(`${url}/evm-chain`, whole)
    const ahead = await settled(() => seen.made)
    // What the sockets of four ends hold for themselves, of 64 MB.
    expect(ahead * pieceBytes).toBeLessThan(24_000_000)
    let length = 0
    for await (const chunk of incoming) length += chunk.length
    expect(length).toBeGreaterThan(pieces * pieceBytes - 100)
    expect(incoming.complete).toBe(true)
    await expect.poll(() => [seen.released, service.inFlight()]).toEqual([1, 0])
  })

  it('is held back through the Fetch form alike', async () => {
    const { seen, changes } = longHistory()
    const { proxy, service } = await proxyToService(changes)
    const init = { method: 'POST', body: whole, headers: ownPage }
    const reader = (await proxy.fetch(new Request('http://app.example/evm-chain', init))).body!.getReader()
    await reader.read()
    expect((await settled(() => seen.made)) * pieceBytes).toBeLessThan(16_000_000)
    await reader.cancel()
    await expect.poll(() => [seen.released, service.inFlight()]).toEqual([1, 0])
  })

  it('is let go by the service when the page leaves', async () => {
    const { seen, changes } = longHistory()
    const { url, service } = await proxyToService(changes)
    const incoming = await open(`${url}/evm-chain`, whole)
    await settled(() => seen.made)
    incoming.destroy()
    await expect.poll(() => [seen.released, service.inFlight()]).toEqual([1, 0])
    expect(seen.made).toBeLessThan(pieces)
  })

  it('that the service breaks off is broken off, never ended well', async () => {
    const target = await startTarget((_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.write(`[${'1,'.repeat(100_000)}`, () => setImmediate(() => response.destroy()))
    })
    atEnd(target.close)
    const { url } = await proxyTo(target.url)
    const incoming = await open(`${url}/evm-chain`, call)
    await expect(incoming.toArray()).rejects.toThrow()
    expect(incoming.complete).toBe(false)
  })

  it('in which nothing comes any more is broken off', async () => {
    const target = await startTarget((_request, response) => {
      response.setHeader('content-type', 'application/json').write(`[${'1,'.repeat(100_000)}`)
    })
    atEnd(target.close)
    const { url } = await proxyTo(target.url, { idleTimeoutMs: 50 })
    const incoming = await open(`${url}/evm-chain`, call)
    await expect(incoming.toArray()).rejects.toThrow()
  })

  it('that a page does not read is given up, so that the service is let go', async () => {
    const { seen, changes } = longHistory()
    const { url, service } = await proxyToService(changes, { idleTimeoutMs: 100 })
    await open(`${url}/evm-chain`, whole)
    await expect.poll(() => [seen.released, service.inFlight()], { timeout: patient(5_000) }).toEqual([1, 0])
  })
})
