import { buildChain, commitChain, people, poolTransaction } from '@chain-data/index/test'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type StartedHistory, startHistory } from '../http/startHistory.ts'
import { request } from '../http/startService.ts'
import { readStream, watchBody } from './startStreams.ts'

const alice = people[3]!
const bob = people[7]!
const blocks = buildChain([[{ name: '0a', parties: [alice, bob] }], [{ name: '1a', parties: [alice] }]])
const [next] = buildChain([[{ name: '2a', parties: [bob, alice] }]], { parent: blocks[1]!.ref })

let history: StartedHistory
beforeEach(async () => {
  history = await startHistory({ cacheBytes: 1_000_000 })
  await commitChain(history.writer, blocks)
  await history.writer.markBackfilled()
  await history.writer.markSettled()
})
afterEach(async () => {
  history.service.beginClosing()
  await history.dispose()
})

async function read(...params: unknown[]) {
  const answer = await history.service.post('/evm-chain', request('svc_getTransactionsByAddress', params))
  const { result } = (await answer.json()) as { result: { hash: string }[] }
  return { cursor: answer.headers.get('x-chain-data-cursor'), result, text: JSON.stringify(result) }
}

async function open(after: string | null) {
  const headers = { accept: 'text/event-stream' }
  const answer = await history.service.post('/evm-chain', watchBody([alice], { after }), { headers })
  return readStream(answer)
}

describe('the cursor of a history', () => {
  it('comes with a whole history and every first page, kept ones included, and with nothing else', async () => {
    const { cursor, result } = await read(alice)
    expect(cursor).toMatch(/^[0-9a-f]{16}-/)
    for (let time = 0; time < 4; time++) expect((await read(alice, { limit: 5 })).cursor).toBe(cursor)
    expect((await read(alice, { limit: 5, before: result[0]!.hash })).cursor).toBeNull()
    const batch = `[${request('svc_getTransactionsByAddress', [alice])}]`
    expect((await history.service.post('/evm-chain', batch)).headers.get('x-chain-data-cursor')).toBeNull()
    await commitChain(history.writer, [next!])
    const later = await read(alice, { limit: 5 })
    expect(later.cursor! > cursor!).toBe(true)
    for (let time = 0; time < 4; time++) expect((await read(alice, { limit: 5 })).cursor).toBe(later.cursor)
  })

  it('is where a stream goes on: what it tells is what the next page has, byte for byte', async () => {
    const before = await read(alice)
    await history.writer.updatePool({
      present: [poolTransaction('next', [alice, bob])],
      seenAtSeconds: 1_700_000_500,
      headAfter: 1
    })
    const stream = await open(before.cursor)
    const added = await stream.next()
    expect(`[${JSON.stringify(added.value.record)},${before.text.slice(1)}`).toBe((await read(alice)).text)
    // Live, now that it has caught up.
    expect((await stream.next()).value.kind).toBe('synced')
    await commitChain(history.writer, [next!])
    const seen = await stream.nextChange()
    const { text, cursor } = await read(alice)
    expect(text).toContain(JSON.stringify(seen.value.record))
    expect(seen.value).toMatchObject({ kind: 'added', block: { blockNumber: 2, blockHash: next!.ref.hash } })
    expect(seen.id <= cursor!).toBe(true)
    expect(history.failures).toEqual([])
  })

  it('is expired once its index is another one', async () => {
    const { cursor } = await read(alice)
    const answer = await history.service.post(
      '/evm-chain',
      watchBody([alice], { after: `${'0'.repeat(16)}${cursor!.slice(16)}` }),
      { headers: { accept: 'text/event-stream' } }
    )
    expect(await answer.json()).toMatchObject({ id: 1, error: { data: { reason: 'CURSOR_EXPIRED' } } })
  })
})
