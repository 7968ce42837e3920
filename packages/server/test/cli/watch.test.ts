import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '@chain-data/index/test'
import { examples } from '@chain-data/protocol/examples'
import { afterEach, describe, expect, it } from 'vitest'
import { formatEvent } from '../../src/server/cli/formatEvent.ts'
import { type RunningCommand, runCommand } from './runCommand.ts'

const [lifeOfOne, replaced] = examples.svc_watchAddresses
if (lifeOfOne === undefined || replaced === undefined) throw new Error('the document has two examples')
const [[address = '']] = lifeOfOne.params
const projectKey = ['--project', 'demo', '--key', 'demo-server-key']

const running: RunningCommand[] = []
const cleanUps: (() => void)[] = []
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

interface Asked {
  readonly accept: string | undefined
  readonly authorization: string | undefined
  readonly body: { readonly method: string; readonly params: readonly [string[], { after?: string }?] }
}

/** A server whose streams are what the test says; the conversation of the command with our own server is a test of that. */
async function serve(answer: (response: ServerResponse, asked: Asked, count: number) => void) {
  const requests: Asked[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const { accept, authorization } = request.headers
    requests.push({ accept, authorization, body })
    answer(response, { accept, authorization, body }, requests.length)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const eventsOf = ({ cursors = [], result }: typeof lifeOfOne) =>
  result.map((event, at) => `id: ${cursors[at]}\ndata: ${JSON.stringify(event)}\n\n`)

function stream(response: ServerResponse, events: readonly string[]): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events.join(''))
  return response
}

function watch(...args: readonly string[]): RunningCommand {
  const command = runCommand(['watch', '1', ...args])
  running.push(command)
  return command
}

describe('chain-data watch', () => {
  it('prints each change as a line, goes on after the last one, and says that it had to', async () => {
    const { url, requests } = await serve((response, _asked, count) => {
      const events = eventsOf(lifeOfOne)
      if (count === 1) stream(response, events.slice(0, 2)).end()
      else stream(response, events.slice(2))
    })
    const command = watch(address, '--url', url, ...projectKey)
    await eventually('three lines', () => command.stdout().split('\n').length === 4)
    const { hash } = (lifeOfOne.result[1] as { readonly record: { readonly hash: string } }).record
    expect(
      command
        .stdout()
        .split('\n')
        .map(line => line.split(/ {2,}/).slice(0, 3).join('|'))
    ).toEqual([
      `added|${hash}|pending`,
      `confirmed|${hash}|block 20099999`,
      `final|${hash}|block 20099999`,
      ''
    ])
    expect(command.stderr()).toBe('The stream broke: the server ended it. It is connected again.\n')
    expect(requests.map(({ body }) => body)).toEqual([
      expect.objectContaining({ method: 'svc_watchAddresses', chainId: 1, params: [[address]] }),
      expect.objectContaining({ params: [[address], { after: lifeOfOne.cursors?.[1] }] })
    ])
    const basic = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
    expect(requests[0]).toMatchObject({
      accept: expect.stringContaining('text/event-stream'),
      authorization: basic
    })
  })

  it('prints JSON with the cursor of each event, those without a change too', async () => {
    const { url, requests } = await serve(response => stream(response, eventsOf(lifeOfOne)))
    const command = watch(address, address, '--url', url, ...projectKey, '--json', '--after', 'c0')
    await eventually('four events', () => command.logLines().length === 4)
    expect(command.logLines()).toEqual(
      lifeOfOne.result.map((event, at) => ({ cursor: lifeOfOne.cursors?.[at], ...event }))
    )
    expect(requests[0]?.body.params).toEqual([[address, address], { after: 'c0' }])
  })

  it('ends with the words of a refusal, and exits 1', async () => {
    const data = { reason: 'CURSOR_EXPIRED', extraMessage: 'Read the history\u001b[2J again.' }
    const error = { code: -32004, message: 'Cursor expired', data }
    const { url } = await serve(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
    })
    const command = watch(address, '--url', url, ...projectKey)
    expect(await command.ended).toBe(1)
    expect(command.stderr()).toBe(
      'The server gives no stream of changes: CURSOR_EXPIRED: Read the history[2J again.\n'
    )
  })

  it('exits 2 where nobody can be asked', async () => {
    const command = watch(address, '--url', 'http://127.0.0.1:1')
    expect(await command.ended).toBe(2)
    expect(command.stderr()).toMatch(/expected --project and --key/)
  })
})

describe('an event as a line', () => {
  it('names what took the place of a transaction', () => {
    const [event] = replaced.result
    expect(event && formatEvent(event)).toMatch(/^removed {5}0x8d11[\da-f]{60} {2}replaced by 0x27b5/)
  })

  it('names failure, creation, and what is only queued', () => {
    const added = lifeOfOne.result[1]
    if (added?.kind !== 'added') throw new Error('the second event is another one')
    const { to: _to, ...creation } = added.record
    const failed = {
      ...added,
      kind: 'confirmed',
      block: { blockNumber: 7, blockHash: '0x' },
      record: { ...creation, status: 4 }
    }
    expect(formatEvent(failed as never)).toMatch(
      / block 7, failed {2}0x\w+ to a new contract {2}100000000000000000 wei$/
    )
    expect(formatEvent({ ...added, record: { ...added.record, status: 0 } })).toContain('  queued  ')
  })
})
