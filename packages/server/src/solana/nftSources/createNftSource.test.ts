import { describe, expect, it } from 'vitest'
import { formatSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import type { NftSourceQuery } from '../holdings/holdings.ts'
import { createNftSource } from './createNftSource.ts'

type NftReader = Parameters<typeof createNftSource>[0]['read']

const accountAddress = formatSolanaAddress(new Uint8Array(32).fill(7))
const unavailable = 'COMPRESSED_UNAVAILABLE'
const queryWith = (more: Partial<NftSourceQuery> = {}): NftSourceQuery => ({
  accountAddress,
  signal: new AbortController().signal,
  deadlineMs: Number.POSITIVE_INFINITY,
  ...more
})
const nothing = { nfts: [], incomplete: [] }
const failing =
  (error: unknown): NftReader =>
  () =>
    Promise.reject(error)

describe('a source of NFTs', () => {
  it.each([new NodeUnavailableError('down'), new NodeRpcError('refused', -32_601, undefined)])(
    'names itself when its place gives no answer: %s',
    async error => {
      const read = createNftSource({ read: failing(error), unavailable })
      expect(await read(queryWith())).toEqual({
        nfts: [],
        incomplete: [{ address: accountAddress, reason: unavailable }]
      })
    }
  )

  it('passes on what is a bug', async () => {
    const bug = new TypeError('a bug')
    await expect(createNftSource({ read: failing(bug), unavailable })(queryWith())).rejects.toBe(bug)
  })

  it('ends with the reason of a caller who has gone', async () => {
    const [caller, reason] = [new AbortController(), new Error('gone')]
    const read = createNftSource({
      read: () => {
        caller.abort(reason)
        return Promise.reject(new NodeUnavailableError('cut'))
      },
      unavailable
    })
    await expect(read(queryWith({ signal: caller.signal }))).rejects.toBe(reason)
  })

  it.each([
    ['ten seconds', Number.POSITIVE_INFINITY, 10_000],
    ['half of the time that is left', 4_000, 2_000],
    ['no time when none is left', -1_000, 0]
  ])('gives its reader %s', async (_what, leftMs, expectedMs) => {
    const begun = Date.now()
    let givenMs = Number.NaN
    const read = createNftSource({
      read: async ({ deadlineMs }) => {
        givenMs = deadlineMs - begun
        return nothing
      },
      unavailable
    })
    await read(queryWith({ deadlineMs: begun + leftMs }))
    // Between the two looks at the clock some time may pass; it is never given twice.
    expect(givenMs).toBeLessThanOrEqual(expectedMs + (Date.now() - begun))
    expect(givenMs).toBeGreaterThanOrEqual(expectedMs)
  })

  it('tells when it begins to fail and when it answers again, whole or in part, and not between', async () => {
    const failure = new NodeUnavailableError('down')
    const told: unknown[] = []
    const outcomes: NftReader[] = [
      async () => nothing,
      failing(failure),
      failing(failure),
      async () => ({ ...nothing, failure }),
      async () => nothing,
      async () => nothing,
      async () => ({ ...nothing, failure })
    ]
    const read = createNftSource({
      read: query => (outcomes.shift() as NftReader)(query),
      unavailable,
      onChange: change => told.push(change)
    })
    while (outcomes.length > 0) await read(queryWith())
    expect(told).toEqual([failure, undefined, failure])
  })
})
