import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { address } from '../http/startService.ts'
import { call } from './AbuseCase.ts'
import { checkAnswer } from './checkAnswer.ts'
import { readAnswers } from './converse.ts'
import { type SlowCase, slowCases } from './slow.cases.ts'
import { type AbusedService, openSockets, startAbused } from './startAbused.ts'
import { requestBytes } from './wire.ts'

/** Streams open, and chunks taken from them, since the start. */
let streamsOpen = 0
let chunksRead = 0
let abused: AbusedService
beforeAll(async () => {
  abused = await startAbused(
    {
      limits: { streamIdleMs: 200 },
      handlers: {
        svc_getTransactionsByAddress: async () => {
          streamsOpen++
          return new ResultStream(endless(), async () => void streamsOpen--)
        }
      }
    },
    { receiveHeadMs: 200, receiveRequestMs: 300, checkEveryMs: 20 }
  )
})
afterAll(async () => {
  await abused.close()
})

async function* endless(): AsyncGenerator<readonly unknown[]> {
  const chunk = Array(100).fill('x'.repeat(10_000))
  for (;;) {
    chunksRead++
    yield chunk
  }
}

/** What comes until the server closes the connection. */
function hold({ bytes, drip, half }: SlowCase): Promise<string> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    const socket = connect({ port: abused.port, host: '127.0.0.1', allowHalfOpen: half ?? false })
    socket.on('data', data => chunks.push(data)).on('error', () => {})
    socket.write(bytes)
    if (half) socket.end()
    const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), 10)
    socket.on('close', () => {
      clearInterval(dripping)
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
  })
}

describe('a caller who does not finish is cut:', () => {
  it.each(slowCases)('$name', async testCase => {
    const raw = await hold(testCase)
    const answers = readAnswers(raw)
    expect(answers.map(({ status }) => status)).toEqual(testCase.expect.map(({ status }) => status))
    for (const [at, answer] of answers.entries()) checkAnswer(answer, testCase.expect[at]!, testCase.bytes)
    await abused.checkAfter(raw)
  })
})

const endlessCall = requestBytes({
  body: call({ method: '"svc_getTransactionsByAddress"', params: `["${address}"]` })
})

/** A connection from which nothing is ever read. */
function deaf(bytes: string): Socket {
  const socket = connect(abused.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write(bytes)
  return socket
}

describe('a caller who takes nothing is cut:', () => {
  it('of an endless answer', async () => {
    const socket = deaf(endlessCall)
    await expect.poll(() => chunksRead).toBeGreaterThan(0)
    await expect.poll(() => [streamsOpen, abused.service.inFlight()]).toEqual([0, 0])
    socket.destroy()
    await abused.checkAfter('')
  })

  it('although it goes on sending', async () => {
    const socket = deaf(endlessCall)
    const sending = setInterval(() => socket.write(`${' '.repeat(10)}`), 10)
    await expect.poll(() => streamsOpen).toBe(1)
    await expect.poll(() => streamsOpen).toBe(0)
    clearInterval(sending)
    socket.destroy()
    await abused.checkAfter('')
  })

  it('with the answers that wait behind the one it does not take', async () => {
    const socket = deaf(endlessCall.repeat(3))
    await expect.poll(() => streamsOpen).toBe(3)
    await expect.poll(() => [streamsOpen, abused.service.inFlight()]).toEqual([0, 0])
    socket.destroy()
    await abused.checkAfter('')
  })

  it('of many short answers', async () => {
    const socketsBefore = openSockets()
    const socket = deaf('')
    const page = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100)
    const send = (error?: Error | null) => {
      if (!error) socket.write(page, send)
    }
    await expect.poll(openSockets).toBe(socketsBefore + 2)
    send()
    // Its own end may stay open until it looks.
    await expect.poll(() => openSockets() - socketsBefore, { timeout: patient(10_000) }).toBeLessThan(2)
    socket.destroy()
    await abused.checkAfter('')
  })
})

it('ten thousand requests at once on one connection leave room for others', async () => {
  const socket = deaf(requestBytes({}).repeat(10_000))
  await abused.service.post('/evm-chain', call())
  socket.destroy()
  await abused.checkAfter('')
})
