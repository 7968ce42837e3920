import { HttpResponse, http } from 'msw'
import { type SetupServer, setupServer } from 'msw/node'
import { methods } from '../../src/generated/methods.gen.ts'
import type { ChainOptional, Client, ClientOptions } from '../../src/index.ts'
import { projectId, serverKey } from './credentials.ts'
import { transports } from './transports.ts'

export const baseUrl = 'https://rpc.example.com'

/** One request as it arrived. */
interface Received {
  readonly url: string
  readonly headers: Headers
  readonly text: string
  readonly body: { id: number; method: string; params: unknown[] } & Record<string, unknown>
}

/** Makes the answer to a request. */
export type Answer = (received: Received) => Response | Promise<Response>

/** Stands in for the service: whatever is sent to it is recorded and given to the answer of the moment. */
export interface StubService {
  readonly msw: SetupServer
  readonly received: Received[]
  answerWith(answer: Answer): void
  reset(): void
}

export function createStubService(): StubService {
  const received: Received[] = []
  let answer = answerEmpty
  const msw = setupServer(
    http.all(`${baseUrl}/*`, async ({ request }) => {
      const text = await request.text()
      const arrived = { url: request.url, headers: request.headers, text, body: JSON.parse(text) }
      received.push(arrived)
      return answer(arrived)
    })
  )
  return {
    msw,
    received,
    answerWith(next) {
      answer = next
    },
    reset() {
      received.length = 0
      answer = answerEmpty
    }
  }
}

/** The emptiest result that fits the method; of one that is not in the document, a list. */
const answerEmpty: Answer = received => {
  const name = received.body.method.replace(/^(svc|acme)_/, '')
  const known = methods.find(each => name === each.name || name === each.wireName)
  return answerResult(known?.result === 'object' ? {} : [])(received)
}

/** A success, as the service writes it. */
export function answerResult(result: unknown): Answer {
  return ({ body }) => HttpResponse.json({ jsonrpc: '2.0', id: body.id, result: result as never })
}

/** Any JSON with any status. */
export function answerJson(body: unknown, init?: ResponseInit): Answer {
  return () => HttpResponse.json(body as never, init)
}

/** Several JSON texts, one after the other; the last one again and again. */
export function answerTexts(...texts: string[]): Answer {
  let next = 0
  return () => {
    const text = texts[Math.min(next++, texts.length - 1)] ?? ''
    return new HttpResponse(text, { headers: { 'Content-Type': 'application/json' } })
  }
}

/** A client of the stub with a default chain, which sends nothing twice unless told otherwise. */
export function stubClient(
  options?: Partial<ClientOptions<'number'>>,
  create: (options: ClientOptions<'number'>) => Client<ChainOptional> = transports[0]![1]
): Client<ChainOptional> {
  return create({
    baseUrl,
    projectId,
    serverKey,
    chainId: 1,
    retries: 0,
    ...options
  } as ClientOptions<'number'>)
}
