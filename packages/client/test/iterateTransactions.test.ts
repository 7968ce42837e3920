import { limits } from '@chain-data/protocol'
import { HttpResponse } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hasReason } from '../src/index.ts'
import { largestPage } from '../src/iterateTransactions.ts'
import { caught } from './support/caught.ts'
import { address } from './support/credentials.ts'
import { createStubService, stubClient } from './support/stubService.ts'
import { transports } from './support/transports.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

interface Row {
  hash: string
  status: number
}

const confirmed = (count: number, from = count): Row[] =>
  Array.from({ length: count }, (_, index) => ({ hash: `c${from - index}`, status: 3 }))
const pending = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ hash: `p${count - index}`, status: 1 }))

/** Answers pages of this history as the service does. */
function serve(history: Row[]): void {
  service.answerWith(({ body }) => {
    const [, { limit = Number.POSITIVE_INFINITY, before } = {}] = body.params as [
      string,
      { limit?: number; before?: string }?
    ]
    const rest =
      before === undefined ? history : history.slice(history.findIndex(row => row.hash === before) + 1)
    return HttpResponse.json({ jsonrpc: '2.0', id: body.id, result: rest.slice(0, limit) } as never)
  })
}

const asked = () => service.received.map(({ body }) => body.params[1])

async function collect(pages: AsyncIterable<readonly { hash: string }[]>): Promise<string[][]> {
  const all: string[][] = []
  for await (const page of pages) all.push(page.map(({ hash }) => hash))
  return all
}

describe.each(transports)('over %s', (_transport, create) => {
  const client = stubClient({}, create)
  const hashes = (rows: Row[]) => rows.map(({ hash }) => hash)

  test('goes from page to page by the last confirmed record, until a short page', async () => {
    const history = [...pending(1), ...confirmed(6)]
    serve(history)
    const pages = await collect(client.iterateTransactions({ address, limit: 3 }))
    expect(pages).toEqual([hashes(history.slice(0, 3)), hashes(history.slice(3, 6)), ['c1']])
    expect(asked()).toEqual([{ limit: 3 }, { limit: 3, before: 'c5' }, { limit: 3, before: 'c2' }])
  })

  test('ends where the last page is exactly full, and shows no empty page', async () => {
    serve(confirmed(4))
    expect(await collect(client.iterateTransactions({ address, limit: 2 }))).toHaveLength(2)
    expect(service.received).toHaveLength(3)
  })

  test('of an address without transactions has no page', async () => {
    serve([])
    expect(await collect(client.iterateTransactions({ address }))).toEqual([])
    expect(asked()).toEqual([{ limit: 100 }])
  })

  test('begins below a record where told to', async () => {
    serve(confirmed(5))
    expect(await collect(client.iterateTransactions({ address, before: 'c3' }))).toEqual([['c2', 'c1']])
  })

  test('a first page full of pending records grows until there is a confirmed one to go on from', async () => {
    serve([...pending(9), ...confirmed(5)])
    const pages = await collect(client.iterateTransactions({ address, limit: 2 }))
    expect(pages.flat()).toEqual(hashes([...pending(9), ...confirmed(5)]))
    expect(asked()).toEqual([{ limit: 2 }, { limit: 8 }, { limit: 32 }])
  })

  test('more pending records than a page may hold are read with the whole history', async () => {
    serve([...pending(1000), ...confirmed(3)])
    const pages = await collect(client.iterateTransactions({ address, limit: 900 }))
    expect(pages.map(page => page.length)).toEqual([1003])
    expect(asked()).toEqual([{ limit: 900 }, { limit: 1000 }, undefined])
  })

  test('ends on a host that repeats itself because it knows no cursor', async () => {
    service.answerWith(({ body }) =>
      HttpResponse.json({ jsonrpc: '2.0', id: body.id, result: confirmed(3) } as never)
    )
    expect(await collect(client.iterateTransactions({ address, limit: 3 }))).toEqual([['c3', 'c2', 'c1']])
    expect(service.received).toHaveLength(2)
  })

  test('a cursor that a reorg removed is a typed error that names the last common block', async () => {
    const lastCommonBlock = { blockNumber: 7, blockHash: '0x07' }
    service.answerWith(({ body }) =>
      HttpResponse.json(
        body.params[1] && 'before' in (body.params[1] as object)
          ? {
              jsonrpc: '2.0',
              id: body.id,
              error: {
                code: -32004,
                message: 'Cursor removed by a reorg',
                data: { reason: 'CURSOR_REORGED', extraMessage: 'gone', lastCommonBlock }
              }
            }
          : ({ jsonrpc: '2.0', id: body.id, result: confirmed(2) } as never)
      )
    )
    const error = await caught(collect(client.iterateTransactions({ address, limit: 2 })))
    expect(hasReason(error, 'CURSOR_REORGED') && error.data.lastCommonBlock).toEqual(lastCommonBlock)
    expect(hasReason(error, 'NOT_SYNCED')).toBe(false)
  })

  test('asks for nothing more once the reader leaves', async () => {
    serve(confirmed(9))
    for await (const page of client.iterateTransactions({ address, limit: 2 })) {
      expect(page).toHaveLength(2)
      break
    }
    expect(service.received).toHaveLength(1)
  })

  test('its signal ends it between pages too', async () => {
    serve(confirmed(9))
    const controller = new AbortController()
    const pages = client.iterateTransactions({ address, limit: 2, signal: controller.signal })
    await pages.next()
    controller.abort()
    expect(await caught(pages.next())).toMatchObject({ code: 'ABORTED' })
  })

  test('its signal ends it while the host is still reading', async () => {
    const controller = new AbortController()
    service.answerWith(({ body }) => {
      setTimeout(() => controller.abort(), 10)
      const { data, ...error } = stillReading(1)
      const late = { ...error, data: { ...data, retryAfterMs: 600_000 } }
      return HttpResponse.json({ jsonrpc: '2.0', id: body.id, error: late } as never)
    })
    const pages = client.iterateTransactions({ address, signal: controller.signal })
    expect(await caught(pages.next())).toMatchObject({ code: 'ABORTED' })
  })

  const stillReading = (percent: number) => ({
    code: -32002,
    message: 'History is still being read',
    data: {
      ...{ reason: 'STILL_READING', extraMessage: 'still', retryAfterMs: 1 },
      progress: { reachedBlock: 1_000 - percent, percent, expectedMs: 5_000 }
    }
  })

  test('a page whose history is still being read is waited for, as long as the reading goes on', async () => {
    let calls = 0
    service.answerWith(({ body }) => {
      const isRead = ++calls > 20
      const answer = isRead ? { result: confirmed(2) } : { error: stillReading(calls) }
      return HttpResponse.json({ jsonrpc: '2.0', id: body.id, ...answer } as never)
    })
    expect(await collect(client.iterateTransactions({ address, limit: 9 }))).toEqual([['c2', 'c1']])
    expect(calls).toBe(21)
  })

  test('a reading that stands still is a typed error with its progress, as it is at once for a single call', async () => {
    service.answerWith(({ body }) =>
      HttpResponse.json({ jsonrpc: '2.0', id: body.id, error: stillReading(7) } as never)
    )
    const single = await caught(client.getTransactionsByAddress({ address }))
    expect(hasReason(single, 'STILL_READING') && single.data.progress).toEqual({
      ...{ reachedBlock: 993, percent: 7, expectedMs: 5_000 }
    })
    expect(single).toMatchObject({ retryable: true, retryAfterMs: 1 })
    expect(service.received).toHaveLength(1)
    const error = await caught(collect(client.iterateTransactions({ address })))
    expect(error).toMatchObject({ reason: 'STILL_READING' })
    expect(service.received).toHaveLength(62)
  })

  test('an answer that is no list is a protocol error', async () => {
    service.answerWith(({ body }) => HttpResponse.json({ jsonrpc: '2.0', id: body.id, result: {} }))
    expect(await caught(collect(client.iterateTransactions({ address })))).toMatchObject({
      reason: 'NOT_A_LIST'
    })
  })
})

test('the largest page is that of the document', () => {
  expect(largestPage).toBe(limits.pageRecords)
})
