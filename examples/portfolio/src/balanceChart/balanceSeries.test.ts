import type { ConfirmedTransaction, HistoryCertificate } from '@chain-data/client/fetch'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { axisTicks } from './axisTicks.ts'
import { type BalanceSeries, balanceSeries, type KnownHistory } from './balanceSeries.ts'

const me = `0x${'a'.repeat(40)}` as const
const friend = `0x${'b'.repeat(40)}` as const
const contract = `0x${'c'.repeat(40)}` as const

/** A step of a ledger: what happens, and what it costs the account. */
interface Step {
  kind: 'out' | 'in' | 'self' | 'failed' | 'created' | 'paid' | 'pays'
  value: bigint
  fee: bigint
  /** Blocks after the step before; 0 for the same one. */
  later: number
}

/** Plays steps forwards, as a chain does. @returns Records newest first, and the balance at the end of each block. */
function playLedger(steps: readonly Step[], opening: bigint) {
  const truth = new Map<number, bigint>()
  const records: ConfirmedTransaction[] = []
  let balance = opening
  let block = 1
  for (const [place, { kind, value, fee, later }] of steps.entries()) {
    block += later
    const isMine = kind !== 'in' && kind !== 'paid'
    if (isMine) balance -= fee
    if (kind === 'out' || kind === 'created' || kind === 'pays') balance -= value
    if (kind === 'in' || kind === 'paid') balance += value
    truth.set(block, balance)
    const inner = kind === 'paid' || kind === 'pays'
    const internal = [
      ...(kind === 'paid' ? [{ kind: 'call' as const, from: contract, to: me, value: hex(value) }] : []),
      ...(kind === 'pays' ? [{ kind: 'call' as const, from: me, to: friend, value: hex(value) }] : [])
    ]
    records.unshift({
      ...{ hash: `0x${place}`, from: isMine ? me : friend, value: inner ? '0x0' : hex(value), data: '0x' },
      ...(kind === 'created' ? { contractAddress: contract } : { to: toOf(kind) }),
      ...{ gasLimit: 1, nonce: 0, timestamp: block * 12, status: kind === 'failed' ? 4 : 3, type: 2 },
      ...{ gasSpent: '0x1', gasPrice: '0x1', fees: hex(fee), blockNumber: block, internal }
    })
  }
  return { records, truth, balance, block }
}

const hex = (value: bigint) => `0x${value.toString(16)}` as const
const toOf = (kind: Step['kind']) =>
  kind === 'out' || kind === 'failed' ? friend : kind === 'paid' ? contract : me

function historyOf(
  { records, balance, block }: ReturnType<typeof playLedger>,
  over: Partial<KnownHistory> = {}
): KnownHistory {
  const anchor = { balanceWei: balance, blockNumber: block, blockHash: '0x', timestampSeconds: block * 12 }
  return { records, isComplete: true, anchor, ...over }
}

const noParts = {
  ...{ opening: 0n, received: 0n, sent: 0n, fees: 0n, internalReceived: 0n, internalSent: 0n },
  ...{ withdrawals: 0n, rewards: 0n, tips: 0n, minted: 0n, burned: 0n }
}
function certificate(
  blockNumber: number,
  balance: bigint,
  parts: Partial<typeof noParts> = {}
): HistoryCertificate {
  return {
    ...{ address: me, asOf: { blockNumber, blockHash: '0x', timestamp: 1 }, verdict: 'proven' },
    ...{ covers: { from: 0, to: blockNumber }, index: { verdict: 'proven', transactions: 0 } },
    sent: { verdict: 'proven', transactions: 0, authorizations: 0, creations: 0 },
    native: { verdict: 'proven', parts: { ...noParts, ...parts }, balance },
    ...{ tokens: [], nfts: [], findings: [] }
  }
}

const opening = 10n ** 24n
const plain: Step[] = [
  { kind: 'out', value: 5n, fee: 1n, later: 1 },
  { kind: 'in', value: 7n, fee: 9n, later: 1 },
  { kind: 'failed', value: 100n, fee: 2n, later: 0 },
  { kind: 'paid', value: 3n, fee: 9n, later: 4 }
]

describe('the balance over time', () => {
  it('is that of the chain after every block, whatever happened', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 20n })
    const step: fc.Arbitrary<Step> = fc.record({
      kind: fc.constantFrom('out', 'in', 'self', 'failed', 'created', 'paid', 'pays'),
      ...{ value: amount, fee: amount, later: fc.nat(2) }
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.nat(60), (steps, held) => {
        const ledger = playLedger(steps, opening)
        const records = ledger.records.slice(0, held + 1)
        const series = balanceSeries(historyOf(ledger, { records }), me, { internalFrom: 0 }) as BalanceSeries
        // Of the oldest block only a part may be held; its end is known all the same.
        for (const { blockNumber, balanceWei } of series.points) {
          expect(balanceWei).toBe(ledger.truth.get(blockNumber))
        }
        expect(series.points.at(-1)?.balanceWei).toBe(ledger.balance)
        if (records.length === steps.length) expect(series.openingWei).toBe(opening)
      }),
      { seed: 1, numRuns: 200 }
    )
  })

  it('ends at the known balance, also where nothing happened for long', () => {
    const ledger = playLedger(plain, opening)
    const anchor = { balanceWei: ledger.balance, blockNumber: 99, blockHash: '0x', timestampSeconds: 1188 }
    const series = balanceSeries(historyOf(ledger, { anchor }), me, { internalFrom: 0 }) as BalanceSeries
    expect(series.points.map(({ blockNumber }) => blockNumber)).toEqual([2, 3, 7, 99])
    expect(series.points.at(-1)).toMatchObject({ balanceWei: ledger.balance, changeWei: 0n })
    expect(series.trust).toBe('assumed')
  })

  it('leaves out what came after the balance was read', () => {
    const ledger = playLedger(plain, opening)
    const anchor = {
      balanceWei: opening + 4n - 3n - 0n,
      blockNumber: 3,
      blockHash: '0x',
      timestampSeconds: 36
    }
    const series = balanceSeries(
      historyOf(ledger, { anchor: { ...anchor, balanceWei: ledger.truth.get(3)! } }),
      me,
      { internalFrom: 0 }
    ) as BalanceSeries
    expect(series.points.map(({ balanceWei }) => balanceWei)).toEqual([
      ledger.truth.get(2),
      ledger.truth.get(3)
    ])
    expect(series.openingWei).toBe(opening)
  })

  it('is not told where payments by contracts are unknown, and begins where they are known', () => {
    const ledger = playLedger(plain, opening)
    expect(balanceSeries(historyOf(ledger), me, {})).toEqual({ kind: 'untraced' })
    const series = balanceSeries(historyOf(ledger), me, { internalFrom: 3 }) as BalanceSeries
    expect(series.points.map(({ blockNumber }) => blockNumber)).toEqual([3, 7])
    expect(series.isWhole).toBe(false)
  })

  it('is told without traces where a certificate proves that nothing is missing', () => {
    const ledger = playLedger(plain.slice(0, 3), opening)
    const records = ledger.records.map(({ internal: _, ...record }) => record)
    const proof = certificate(ledger.block, ledger.balance, { opening })
    expect(balanceSeries(historyOf(ledger, { records }), me, { certificate: proof })).toMatchObject({
      trust: 'proven',
      openingWei: opening
    })
  })

  it('is not told where currency came without a transaction', () => {
    const ledger = playLedger(plain, opening)
    const proof = certificate(ledger.block, ledger.balance, { withdrawals: 1n, tips: 2n })
    expect(balanceSeries(historyOf(ledger), me, { internalFrom: 0, certificate: proof })).toEqual({
      kind: 'unlisted',
      parts: ['withdrawals', 'tips']
    })
  })

  it('is not told where it does not meet what is known', () => {
    const ledger = playLedger(plain, opening)
    const told = (proof: HistoryCertificate) =>
      balanceSeries(historyOf(ledger), me, { internalFrom: 0, certificate: proof })
    expect(told(certificate(5, ledger.truth.get(3)!, { opening }))).toMatchObject({ trust: 'proven' })
    expect(told(certificate(5, ledger.truth.get(3)! + 1n, { opening }))).toEqual({ kind: 'contradiction' })
    expect(told(certificate(5, ledger.truth.get(3)!, { opening: 1n }))).toEqual({ kind: 'contradiction' })
    const poor = historyOf(ledger, { anchor: { ...historyOf(ledger).anchor!, balanceWei: 1n } })
    expect(balanceSeries(poor, me, { internalFrom: 0 })).toEqual({ kind: 'contradiction' })
  })
})

describe('lines of an axis', () => {
  it('are round, and told apart by their digits', () => {
    const ether = 10n ** 18n
    expect(axisTicks(2n * ether, 9n * ether, 4, 18)).toEqual({
      values: [2n, 4n, 6n, 8n].map(n => n * ether),
      fraction: 0
    })
    const { values, fraction } = axisTicks(9_998n * ether + 123n, 9_998n * ether + 10n ** 15n, 4, 18)
    expect(values.length).toBeGreaterThan(1)
    expect(fraction).toBe(4)
    expect(axisTicks(0n, 0n, 4, 18).values).toEqual([0n])
  })
})
