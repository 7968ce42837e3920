import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { eventually } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import type { Listener } from '../../src/server/http/listen.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { address, authorization, request, type ServiceChanges, startService } from './startService.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function start(handlers: NonNullable<ServiceChanges['handlers']>) {
  const service = startService({ handlers })
  const listener = await service.listen()
  cleanUps.push(() => listener.close(0))
  return { service, listener }
}

const call = request('svc_getSyncStatus', [])
/** An answer begins to be sent once more than this is there. */
const filler = 'x'.repeat(300_000)
const history = request('svc_getTransactionsByAddress', [address])

/** One exchange over a connection that may be kept. */
async function ask(listener: Listener, path: string, body?: string, agent?: Agent) {
  const response = await open(listener, path, body, agent)
  let text = ''
  response.setEncoding('utf8')
  for await (const piece of response) text += piece
  const { statusCode: status, headers } = response
  return { status, connection: headers.connection, body: JSON.parse(text) }
}

async function open(
  listener: Listener,
  path: string,
  body?: string,
  agent?: Agent
): Promise<IncomingMessage> {
  const outgoing = httpRequest(listener.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    ...(agent ? { agent } : {})
  })
  outgoing.end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return response
}

/** Something that is waited for until the test lets it go. */
function gate() {
  let letGo = () => {}
  const opened = new Promise<void>(resolve => {
    letGo = resolve
  })
  return { opened, letGo }
}

const answers = { svc_getSyncStatus: async () => ({ fine: true }) } as unknown as NonNullable<
  ServiceChanges['handlers']
>

it('while it drains it says not ready, answers calls, and keeps no connection', async () => {
  const { service, listener } = await start(answers)
  const agent = new Agent({ keepAlive: true })
  expect(await ask(listener, '/evm-chain', call, agent)).toMatchObject({
    status: 200,
    connection: 'keep-alive'
  })
  service.beginDraining()
  expect(await ask(listener, '/health/ready')).toMatchObject({ status: 503, connection: 'close' })
  expect(await ask(listener, '/evm-chain', call, agent)).toMatchObject({
    status: 200,
    connection: 'close',
    body: { result: { fine: true } }
  })
  expect((await service.post('/evm-chain', call)).status).toBe(200)
})

it('once it closes, new calls are refused and the socket still tells, while what is under way is answered whole', async () => {
  const { opened, letGo } = gate()
  const begun = gate()
  const chunks = (async function* () {
    yield [{ place: 1 }, filler]
    yield [filler]
    begun.letGo()
    await opened
    yield [{ place: 2 }]
  })()
  const { service, listener } = await start({
    svc_getTransactionsByAddress: async () => new ResultStream(chunks, async () => {}),
    svc_getSyncStatus: async () => {
      await opened
      return { fine: true } as never
    }
  })
  const stream = await open(listener, '/evm-chain', history)
  const slow = ask(listener, '/evm-chain', call)
  await begun.opened
  await eventually('both are under way', () => service.inFlight() === 2)
  service.beginClosing()
  expect(await ask(listener, '/health/ready')).toMatchObject({ status: 503 })
  expect(await ask(listener, '/health/live')).toMatchObject({ status: 200 })
  expect(await ask(listener, '/evm-chain', call)).toMatchObject({
    status: 503,
    connection: 'close',
    body: { id: null, error: { data: { reason: 'OVERLOADED' } } }
  })
  letGo()
  expect(await slow).toMatchObject({ status: 200, connection: 'close', body: { result: { fine: true } } })
  let text = ''
  for await (const piece of stream) text += piece
  expect(JSON.parse(text).result.map((entry: { place?: number }) => entry.place)).toEqual([
    1,
    undefined,
    undefined,
    2
  ])
  expect(service.inFlight()).toBe(0)
})

it('an answer that does not end in time is cut where nobody can take it for a whole one', async () => {
  const chunks = (async function* () {
    yield [filler]
    yield [filler]
    await new Promise(() => {})
  })()
  const { service, listener } = await start({
    svc_getTransactionsByAddress: async () => new ResultStream(chunks, async () => {})
  })
  const { port } = new URL(listener.url)
  const socket = connect(Number(port), '127.0.0.1')
  let bytes = ''
  socket.setEncoding('latin1').on('data', piece => {
    bytes += piece
  })
  socket.on('error', () => {})
  const head = `POST /evm-chain HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n`
  socket.write(`${head}content-length: ${Buffer.byteLength(history)}\r\n\r\n${history}`)
  await eventually('it has begun', () => bytes.includes('xxx'))
  service.beginClosing()
  const closed = once(socket, 'close')
  await listener.close(50)
  await closed
  expect(bytes).toMatch(/transfer-encoding: chunked/i)
  expect(bytes).not.toMatch(/\r\n0\r\n\r\n$/)
  expect(bytes.trimEnd().endsWith('}')).toBe(false)
})

it('a caller that reads nothing, one that never sends its body, and one that goes on calling do not hold it up', async () => {
  const chunks = (async function* () {
    for (;;) yield [filler]
  })()
  const { service, listener } = await start({
    ...answers,
    svc_getTransactionsByAddress: async () => new ResultStream(chunks, async () => {})
  })
  const unread = await open(listener, '/evm-chain', history)
  unread.on('error', () => {})
  const { port } = new URL(listener.url)
  const silent = connect(Number(port), '127.0.0.1')
  silent.on('error', () => {})
  silent.write(
    `POST /evm-chain HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n`
  )
  await eventually('both are under way', () => service.inFlight() === 2)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let isOpen = true
  const busy = (async () => {
    const seen = new Set<number | undefined>()
    while (isOpen)
      seen.add(
        await ask(listener, '/evm-chain', call, agent).then(
          ({ status }) => status,
          () => undefined
        )
      )
    return seen
  })()
  service.beginClosing()
  await listener.close(100)
  isOpen = false
  const seen = await busy
  expect([...seen].filter(status => status !== 200 && status !== 503 && status !== undefined)).toEqual([])
  await eventually('nothing is under way any more', () => service.inFlight() === 0)
})
