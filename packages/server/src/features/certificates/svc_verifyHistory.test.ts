import type { Snapshot, SyncStatus } from '@chain-data/index'
import { toTransactionId } from '@chain-data/index/record'
import { emptySnapshot, encodeConfirmed } from '@chain-data/index/test'
import { describe, expect, test } from 'vitest'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import type { AccountState } from './audit/accountState.ts'
import { createVerifyHistory } from './svc_verifyHistory.ts'

const hash = `0x${'ab'.repeat(32)}` as const
const address = `0x${'a1'.repeat(20)}` as const

/** Worth nothing, so that no balance changes. */
const received = encodeConfirmed(
  {
    ...{
      hash,
      from: `0x${'b2'.repeat(20)}`,
      to: address,
      value: 0n,
      data: '0x',
      gasLimit: 21_000n,
      nonce: 0n
    },
    ...{ type: 0, blockNumber: 7, index: 0, timestampSeconds: 1, status: 3 },
    ...{ gasPrice: 1n, gasSpent: 21_000n, feeWei: 21_000n }
  },
  { transfers: [], internal: [] }
)

/** What the index shows each time it is opened, and the nonce that the node tells each time it is asked. */
interface Course {
  readonly views: readonly { readonly rollbacks: number; readonly height: number }[]
  readonly nonces: readonly bigint[]
}

function startVerify(
  { views, nonces }: Course,
  clock = { now: Date.now },
  { onOpen = () => {}, onRead = () => {} } = {}
) {
  let [opened, asked, closed, held] = [0, 0, 0, 0]
  const openSnapshot = async (): Promise<Snapshot> => {
    onOpen()
    const view = views[Math.min(opened++, views.length - 1)] ?? { rollbacks: 0, height: 0 }
    return {
      ...emptySnapshot,
      marks: async () => ({ backfilled: true, settled: true, degraded: false }),
      indexedRange: async () => ({ from: 0, to: { number: view.height, hash }, toTimestampSeconds: 1 }),
      rollbacks: async () => view.rollbacks,
      coverage: async () => ({ tracedFrom: 0 }),
      async *auditedRecords() {
        onRead()
        yield { ids: [toTransactionId({ blockNumber: 7, index: 0 })], bytes: received, missing: [] }
      },
      close: async () => void closed++
    }
  }
  const stateOf = (nonce: bigint): AccountState => ({
    now: { nonce, balance: 0n, code: 'none' },
    async accounts(heights) {
      held = Math.max(held, opened - closed)
      return heights.map(() => ({ nonce: 0n, balance: 0n, code: 'none' }))
    },
    balances: async () => [],
    balanceAt: async () => [],
    supplyAt: async () => [],
    operations: async () => [],
    hashAt: async () => undefined,
    async block() {
      held = Math.max(held, opened - closed)
      return undefined
    }
  })
  const verify = createVerifyHistory({
    chains: new Map([
      [
        1,
        {
          traces: 'off' as const,
          chainId: 1,
          reader: { openSnapshot },
          headers: {
            parts: [],
            block: async () => {
              throw new Error('no header was asked for')
            }
          },
          status: () => ({ chainId: 1, phase: 'following', backfilled: true }) as SyncStatus,
          states: {
            withState: (_, work) => work(stateOf(nonces[Math.min(asked++, nonces.length - 1)] ?? 0n))
          }
        }
      ]
    ]),
    formatAddress: createAddressFormat(),
    clock
  })
  const signal = new AbortController().signal
  return {
    verify: (deadlineMs = Date.now() + 20_000) => verify([address], { chainId: 1, signal, deadlineMs }),
    counts: () => ({ opened, asked, closed }),
    /** Snapshots that were open while the node was asked. */
    held: () => held
  }
}

describe('a certificate whose index changes under it', () => {
  const atTen = { rollbacks: 0, height: 10 }

  test('needs the index once where nothing differs', async () => {
    const { verify, counts } = startVerify({ views: [atTen], nonces: [0n] })
    expect(await verify()).toMatchObject({ verdict: 'proven' })
    expect(counts()).toEqual({ opened: 1, asked: 1, closed: 1 })
  })

  test('is made anew when blocks were removed before a difference could be followed', async () => {
    const moved = { rollbacks: 1, height: 10 }
    const { verify, counts } = startVerify({ views: [atTen, moved], nonces: [1n, 0n] })
    expect(await verify()).toMatchObject({ verdict: 'proven' })
    expect(counts()).toEqual({ opened: 3, asked: 2, closed: 3 })
  })

  test('is not held against an older view, as a replica may show one', async () => {
    const older = { rollbacks: 0, height: 9 }
    const { verify, counts } = startVerify({ views: [atTen, older, atTen], nonces: [1n] })
    expect(await verify()).toMatchObject({ verdict: 'unprovable', asOf: { blockNumber: 10 } })
    expect(counts()).toEqual({ opened: 3, asked: 1, closed: 3 })
  })

  test('is refused in words where the index never stays', async () => {
    const older = { rollbacks: 0, height: 9 }
    const views = [atTen, older]
    let nowMs = Date.now()
    const { verify, counts } = startVerify(
      { views, nonces: [1n] },
      { now: () => nowMs },
      {
        onOpen() {
          nowMs += 2_000
        }
      }
    )
    await expect(verify(nowMs + 60_000)).rejects.toMatchObject({
      reason: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('block 10')
    })
    expect(counts().closed).toBe(counts().opened)
  })

  test('goes on over the same blocks when newer ones have come', async () => {
    const newer = { rollbacks: 0, height: 12 }
    const { verify, counts } = startVerify({ views: [atTen, newer], nonces: [1n] })
    expect(await verify()).toMatchObject({ verdict: 'unprovable', asOf: { blockNumber: 10 } })
    expect(counts()).toEqual({ opened: 2, asked: 1, closed: 2 })
  })
})

test('no snapshot waits for the node: it would be taken away for others', async () => {
  const { verify, counts, held } = startVerify({ views: [{ rollbacks: 0, height: 10 }], nonces: [1n] })
  expect(await verify()).toMatchObject({ verdict: 'unprovable' })
  expect(counts().opened).toBeGreaterThan(1)
  expect(held()).toBe(0)
})

test('a difference is not followed through a history that takes too long to read again', async () => {
  let nowMs = Date.now()
  const course = { views: [{ rollbacks: 0, height: 10 }], nonces: [1n] }
  const start = (tookMs: number) =>
    startVerify(
      course,
      { now: () => nowMs },
      {
        onRead() {
          nowMs += tookMs
        }
      }
    )
  const slow = start(6_000)
  const notFollowed = expect.objectContaining({ kind: 'NOT_FOLLOWED' })
  expect(await slow.verify(nowMs + 20_000)).toHaveProperty('findings', expect.arrayContaining([notFollowed]))
  expect(slow.counts().opened).toBe(1)
  const quick = start(4_000)
  await quick.verify(nowMs + 20_000)
  expect(quick.counts().opened).toBe(2)
})

test('a history that cannot be added up in time is refused, with how far it came', async () => {
  const { verify, counts } = startVerify({ views: [{ rollbacks: 0, height: 10 }], nonces: [0n] })
  await expect(verify(Date.now())).rejects.toMatchObject({
    reason: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining('from block 10 down to 7')
  })
  expect(counts()).toEqual({ opened: 1, asked: 0, closed: 1 })
})
