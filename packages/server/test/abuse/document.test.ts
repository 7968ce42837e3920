import { readFileSync } from 'node:fs'
import { limits, transport } from '@chain-data/protocol'
import { afterAll, expect, it } from 'vitest'
import { readBody } from '../../src/server/rpc/readBody.ts'
import { authorization, startService } from '../http/startService.ts'
import { call } from './AbuseCase.ts'
import { converse } from './converse.ts'
import { requestBytes } from './wire.ts'

const path = new URL('../../../../spec/openrpc.json', import.meta.url)
const document = JSON.parse(readFileSync(path, 'utf8'))
const service = startService()
afterAll(() => service.close())

const origin = 'https://dapp.example'
const send = (method: string, headers: Record<string, string>, body?: string) =>
  service.fetch(new Request('http://service/evm-chain', { method, headers, ...(body && { body }) }))
const words = (text: string | null) => (text ?? '').split(', ')

it('a preflight allows the verb and headers that the document names, for as long as it says', async () => {
  const { headers } = await send('OPTIONS', { origin, 'access-control-request-method': 'POST' })
  expect(headers.get('allow')).toBe(transport.allow)
  expect(headers.get('access-control-allow-methods')).toBe(transport.method)
  expect(words(headers.get('access-control-allow-headers'))).toEqual(transport.requestHeaders)
  expect(headers.get('access-control-max-age')).toBe(String(transport.preflightSeconds))
  expect(headers.get('access-control-allow-credentials')).toBeNull()
})

it('a page may read the headers that the document names, and no others are there to be read', async () => {
  const { headers } = await send('POST', { origin, authorization, 'content-type': 'application/json' }, '{')
  expect(words(headers.get('access-control-expose-headers'))).toEqual(transport.exposedHeaders)
  const fixed = ['content-type', 'vary', 'access-control-allow-origin', 'access-control-expose-headers']
  const known = [...Object.keys(transport.answerHeaders), ...fixed, 'x-request-id']
  expect([...headers.keys()].filter(name => !known.includes(name))).toEqual([])
})

it('the challenge is made of the scheme in the document', async () => {
  const { realm, charset } = document.components['x-securitySchemes'].basicAuth
  const { status, headers } = await send('POST', {}, call())
  expect([status, headers.get('www-authenticate')]).toEqual([
    401,
    `Basic realm="${realm}", charset="${charset}"`
  ])
})

it('the members that may not be given twice are those of a request in the document', () => {
  const { properties } = document.components.schemas.RpcRequest
  const isRefused = (name: string) => {
    const [request] = readBody(`{"${name}":1,"${name}":1}`, { jsonDepth: 9, batchEntries: 1 }).requests
    return request?.repeated === name
  }
  const names = [...Object.keys(properties), 'extra']
  expect(names.filter(isRefused)).toEqual(Object.keys(properties))
})

it('every status of a refusal on the socket is one that the document names', async () => {
  const listener = await service.listen()
  const port = Number(new URL(listener.url).port)
  const broken = [
    requestBytes({ host: null }),
    requestBytes({ line: 'POST / HTTP/2.0' }),
    requestBytes({ lines: ['Expect: x'] }),
    requestBytes({ lines: ['Transfer-Encoding: gzip'], length: null }),
    requestBytes({ lines: Array(limits.headerFields).fill('a: b') })
  ]
  const when: string = document['x-errors'].INVALID_REQUEST.when
  const named = [...when.matchAll(/\b[45]\d\d\b/g)].map(([status]) => Number(status))
  const seen: (number | undefined)[] = []
  for (const bytes of broken) seen.push((await converse(port, bytes)).answers[0]?.status)
  expect([...seen, 408].sort()).toEqual(named.sort())
  await listener.close(0)
})
