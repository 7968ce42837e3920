import type { Address } from '@chain-data/index'
import { Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import type { RawObject } from '../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { AccountEventList, addBlockEvents, addTransactionEvents, tipPerGas } from './accountEvents.ts'
import { readAuthorizations } from './authorizations.ts'
import { loadRecoverSender } from './roots/recoverSender.ts'

const someone: Address = `0x${'1'.repeat(40)}`
const other: Address = `0x${'2'.repeat(40)}`
const wallet = new Wallet(`0x${'11'.repeat(32)}`)
const authority = wallet.address.toLowerCase()
const recover = await loadRecoverSender()
const quantity = (value: number | bigint) => `0x${value.toString(16)}`

/** A tuple as nodes write it: quantities without leading zeros. */
async function tuple(chainId: number, nonce: number) {
  const { signature } = await wallet.authorize({ address: other, chainId, nonce })
  return {
    chainId: quantity(chainId),
    address: other,
    nonce: quantity(nonce),
    yParity: quantity(signature.yParity),
    r: quantity(BigInt(signature.r)),
    s: quantity(BigInt(signature.s))
  }
}

function eventsOf(type: number, raw: RawObject) {
  const events = new AccountEventList()
  const hash = `0x${'77'.repeat(32)}` as const
  const signed = readAuthorizations([{ hash, raw: { type: quantity(type), ...raw } }], recover)
  addTransactionEvents(events, { hash, type, from: someone }, raw, signed, 'transaction')
  return events.list()
}

function blockEventsOf(raw: RawObject, tips = 0n) {
  const events = new AccountEventList()
  addBlockEvents(events, raw, tips, 'block 1')
  return events.list()
}

describe('the events of a transaction', () => {
  it('are its authorities, whoever sends it', async () => {
    const list = [await tuple(31_337, 5), await tuple(0, 6)]
    expect(eventsOf(4, { chainId: '0x7a69', authorizationList: list })).toEqual([
      {
        address: authority,
        events: [
          { kind: 'authorization', nonce: 5n },
          { kind: 'authorization', nonce: 6n }
        ]
      }
    ])
  })

  it('have signatures whose numbers are short', async () => {
    // One in 256 has an r that starts with a zero byte.
    for (let nonce = 0; ; nonce++) {
      const short = await tuple(1, nonce)
      if (short.r.length > 64) continue
      expect(eventsOf(4, { authorizationList: [short] })).toEqual([
        { address: authority, events: [{ kind: 'authorization', nonce: BigInt(nonce) }] }
      ])
      return
    }
  })

  it('are none of a tuple for another chain, unsigned, or of no form', async () => {
    const good = await tuple(1, 5)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const wrong = [
      { ...good, chainId: '0x2' },
      { ...good, r: '0x0' },
      { ...good, s: '0x0' },
      // The other half of the curve, which EIP-2 has ruled out.
      { ...good, s: quantity(order - BigInt(good.s)) },
      { ...good, yParity: '0x2' },
      { ...good, yParity: undefined },
      { ...good, r: `0x1${'0'.repeat(64)}` },
      { ...good, nonce: quantity(2n ** 64n - 1n) },
      { ...good, address: '0x' },
      ...[null, 7, 'x', [], {}]
    ]
    expect(eventsOf(4, { chainId: '0x1', authorizationList: wrong })).toEqual([])
    expect(eventsOf(4, { chainId: '0x1', authorizationList: 'none' })).toEqual([])
    expect(eventsOf(4, {})).toEqual([])
    expect(eventsOf(2, { chainId: '0x1', authorizationList: [good] })).toEqual([])
  })

  it('are what a deposit mints', () => {
    expect(eventsOf(0x7e, { mint: '0x5' })).toEqual([
      { address: someone, events: [{ kind: 'mint', amount: 5n }] }
    ])
    for (const mint of [undefined, null, '0x0', '0x']) expect(eventsOf(0x7e, { mint })).toEqual([])
    expect(eventsOf(2, { mint: '0x5' })).toEqual([])
    expect(() => eventsOf(0x7e, { mint: 'x' })).toThrow(NodeContradictionError)
  })
})

describe('the events of a block', () => {
  it('are its tips and withdrawals, in wei, account by account', () => {
    const withdrawals = [
      { address: other, amount: '0x2' },
      { address: someone.replace('0x', '0X'), amount: '0x3' },
      { address: other, amount: '0x2' },
      { address: other, amount: '0x0' }
    ]
    expect(blockEventsOf({ miner: other, withdrawals }, 7n)).toEqual([
      {
        address: other,
        events: [
          { kind: 'tip', amount: 7n },
          { kind: 'withdrawal', amount: 2_000_000_000n },
          { kind: 'withdrawal', amount: 2_000_000_000n }
        ]
      },
      { address: someone, events: [{ kind: 'withdrawal', amount: 3_000_000_000n }] }
    ])
  })

  it('are none where nothing was paid or withdrawn, or nobody is paid', () => {
    expect(blockEventsOf({ miner: 'not looked at' })).toEqual([])
    expect(blockEventsOf({ miner: '', withdrawals: null }, 5n)).toEqual([])
    expect(blockEventsOf({ miner: null, withdrawals: [] }, 5n)).toEqual([])
  })

  it.each([
    ['a fee recipient that is no address', { miner: '0x12' }],
    ['withdrawals that are no list', { withdrawals: {} }],
    ['a withdrawal that is no object', { withdrawals: [7] }],
    ['a withdrawal without an amount', { withdrawals: [{ address: other }] }],
    ['a withdrawal to nobody', { withdrawals: [{ amount: '0x1' }] }]
  ])('refuse %s', (_, raw) => {
    expect(() => blockEventsOf({ miner: someone, ...raw }, 5n)).toThrow(NodeContradictionError)
  })

  it('count as a tip what is above the base fee, which is nothing where none is named', () => {
    expect(tipPerGas(100n, 30n)).toBe(70n)
    expect(tipPerGas(100n)).toBe(100n)
    expect(tipPerGas(0n, 30n)).toBe(0n)
  })
})
