import { spawn } from 'node:child_process'
import { eventually } from '@chain-data/index/test'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Listener } from '../../src/server/http/listen.ts'
import { authorization } from '../http/startService.ts'
import { hasCurl } from '../support/hasCurl.ts'
import { added, addressOf, createScriptedLog, type ScriptedLog } from './scriptedLog.ts'
import { startStreams, watchBody } from './startStreams.ts'

const alice = addressOf(0xa)
let log: ScriptedLog
let service: ReturnType<typeof startStreams>
let listener: Listener
beforeEach(async () => {
  log = createScriptedLog()
  service = startStreams(log)
  listener = await service.listen()
})
afterEach(async () => {
  service.beginClosing()
  await listener.close(0)
})

const headers = { authorization, 'content-type': 'application/json', accept: 'text/event-stream' }

it.skipIf(!hasCurl)('a stream is read by curl as it comes, and ends well when the server does', async () => {
  const asHeaders = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const url = `${listener.url}/evm-chain`
  const curl = spawn('curl', ['-sSN', '--fail', ...asHeaders, '-d', watchBody([alice]), url])
  let text = ''
  curl.stdout.on('data', bytes => {
    text += bytes
  })
  const code = new Promise(resolve => curl.once('exit', resolve))
  await eventually('the stream is level', () => text.includes('"synced"'))
  log.commit(added(1, [alice]))
  await eventually('the change has come', () => text.split('"synced"').length === 3)
  service.beginClosing()
  expect(await code).toBe(0)
  expect(text).toMatch(
    /^:\n\nid: .+\ndata: \{"kind":"synced".+\}\n\nid: .+\ndata: \{"kind":"added".+\}\n\nid: .+\ndata: \{"kind":"synced".+\}\n\n: the server/
  )
})

it('a stream is read by eventsource-parser over plain fetch', async () => {
  const gone = new AbortController()
  const { body } = await fetch(`${listener.url}/evm-chain`, {
    ...{ method: 'POST', headers, body: watchBody([alice]), signal: gone.signal }
  })
  const events: EventSourceMessage[] = []
  const comments: string[] = []
  const parser = createParser({
    onEvent: event => events.push(event),
    onComment: text => comments.push(text)
  })
  const reading = (async () => {
    for await (const bytes of body ?? []) parser.feed(Buffer.from(bytes).toString())
  })()
  await eventually('the stream is level', () => events.length === 1)
  log.commit(added(1, [alice]), added(2, [alice]))
  await eventually('the changes have come', () => events.length === 4)
  expect(events.map(({ data }) => JSON.parse(data).kind)).toEqual(['synced', 'added', 'added', 'synced'])
  expect(new Set(events.map(({ id }) => id)).size).toBe(4)
  expect(comments).toHaveLength(1)
  gone.abort()
  await reading.catch(() => {})
})
