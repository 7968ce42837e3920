/**
 * What it is compared with, a process of its own: node:http that gives recorded answers in turn and does nothing else.
 * `serveRecorded.ts <url> <bodies as JSON>` records what the server at the URL answers to these bodies.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { authorization, type Listening } from './messages.ts'
import { tellUsage } from './tellUsage.ts'

const [, , url = '', bodiesFile = ''] = process.argv
const bodies = JSON.parse(readFileSync(bodiesFile, 'utf8')) as readonly string[]

const answers: { readonly headers: Record<string, string | number>; readonly body: Buffer }[] = []
for (const body of bodies) {
  const response = await fetch(`${url}/evm-chain`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body
  })
  if (response.status !== 200) throw new Error(`recording: HTTP ${response.status}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  const headers: Record<string, string | number> = {}
  for (const name of ['content-type', 'cache-control', 'x-content-type-options', 'x-request-id']) {
    const value = response.headers.get(name)
    if (value !== null) headers[name] = value
  }
  answers.push({ headers: { ...headers, 'content-length': bytes.length }, body: bytes })
}

let next = 0
const server = createServer((_request, response) => {
  const answer = answers[next++ % answers.length]
  response.writeHead(200, answer?.headers)
  response.end(answer?.body)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.({ url: `http://127.0.0.1:${port}` } satisfies Listening)
})
tellUsage()
