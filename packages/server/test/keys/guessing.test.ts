import { afterEach, expect, it } from 'vitest'
import { createServer, type Server } from '../../src/index.ts'
import { silentLogger } from '../../src/platform/logger.ts'

let server: Server | undefined
afterEach(() => server?.close())

const neighbours = '192.0.2.1'
const elsewhere = '192.0.2.2'

async function start(): Promise<Server> {
  server = await createServer(
    {
      store: 'sqlite::memory:',
      projects: [
        { projectId: 'shop', serverKey: 'key of the shop' },
        { projectId: 'bank', serverKey: 'guess 1000' }
      ],
      // Longer than this test may take.
      login: { attempts: 20, windowMs: 600_000 },
      // The guesses leave the event loop no time.
      overload: false,
      chains: { evm: [{ chainId: 5, rpcUrls: ['http://127.0.0.1:1'] }] }
    },
    { logger: silentLogger }
  )
  return server
}

async function send(server: Server, address: string, projectId: string, key: string): Promise<number> {
  const headers = {
    authorization: `Basic ${btoa(`${projectId}:${key}`)}`,
    'content-type': 'application/json'
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_getSyncStatus', chainId: 5, params: [] })
  const request = new Request('http://server/evm-chain', { method: 'POST', headers, body })
  return (await server.fetch(request, { address })).status
}

/** Sends 2,000 guesses, the right key among them, and the key of an honest neighbour between them. */
async function guess(server: Server): Promise<{ guessed: Map<number, number>; served: Map<number, number> }> {
  const [guessed, served] = [new Map<number, number>(), new Map<number, number>()]
  const count = (statuses: Map<number, number>, status: number) =>
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  for (let number = 0; number < 2_000; number++) {
    count(guessed, await send(server, neighbours, 'bank', `guess ${number}`))
    if (number % 50 === 0) count(served, await send(server, neighbours, 'shop', 'key of the shop'))
  }
  return { guessed, served }
}

it('2,000 guesses from one address do not find the key among them, while a known neighbour is served', async () => {
  const started = await start()
  expect(await send(started, neighbours, 'shop', 'key of the shop')).toBe(200)
  expect(await guess(started)).toEqual({
    guessed: new Map([
      [401, 20],
      [429, 1_980]
    ]),
    served: new Map([[200, 40]])
  })
  // It is the right one, and callers elsewhere do not wait.
  expect(await send(started, elsewhere, 'bank', 'guess 1000')).toBe(200)
})
