import type { ConfirmedTransaction, PendingTransaction } from '@chain-data/client/fetch'
import { describe, expect, it } from 'vitest'
import { describeRecord } from './describeRecord.ts'

const me = '0xAAaaAAaAAaAaAaAAAaaAAAaAaaaAaAaaAaaaaAaA' as const
const friend = `0x${'b'.repeat(40)}` as const
const contract = `0x${'c'.repeat(40)}` as const
const nobody = `0x${'0'.repeat(40)}` as const

function confirmed(over: Partial<ConfirmedTransaction> = {}): ConfirmedTransaction {
  return {
    ...{
      hash: '0x1',
      from: me.toLowerCase() as `0x${string}`,
      to: friend,
      value: '0x5',
      data: '0x',
      gasLimit: 21_000,
      nonce: 0
    },
    ...{ timestamp: 1, status: 3, type: 2, gasSpent: '0x5208', gasPrice: '0x1', fees: '0x5208' },
    ...over
  }
}
const erc20 = { standard: 'ERC-20', address: contract, amount: '7' } as const

describe('what a transaction was for the account', () => {
  it('tells who paid whom, whatever the case of the addresses', () => {
    expect(describeRecord(confirmed(), me)).toEqual({
      deed: 'sent',
      counterparty: friend,
      moves: [{ direction: 'out', amount: 5n, partner: friend }],
      feeWei: 21_000n
    })
    expect(describeRecord(confirmed({ from: friend, to: me }), me)).toEqual({
      deed: 'received',
      counterparty: friend,
      moves: [{ direction: 'in', amount: 5n, partner: friend }]
    })
    expect(describeRecord(confirmed({ to: me }), me)).toMatchObject({
      deed: 'self',
      moves: [{ direction: 'self', amount: 5n }]
    })
  })

  it('names tokens before the call that moved them', () => {
    const transfers = [{ ...erc20, from: me, to: friend }]
    const call = confirmed({ to: contract, value: '0x0', data: '0xa9059cbb', transfers })
    expect(describeRecord(call, me)).toMatchObject({
      deed: 'sent',
      counterparty: friend,
      moves: [{ direction: 'out', amount: 7n, token: { address: contract, standard: 'ERC-20' } }]
    })
  })

  it('knows minted and burned tokens by the missing other side', () => {
    const minted = confirmed({ from: friend, to: contract, transfers: [{ ...erc20, from: nobody, to: me }] })
    const told = describeRecord(minted, me)
    expect(told).toMatchObject({ deed: 'received', moves: [{ direction: 'in', amount: 7n }] })
    expect(told.counterparty).toBeUndefined()
    expect(told.feeWei).toBeUndefined()
  })

  it('counts every id of a range', () => {
    const range = { standard: 'ERC-721', address: contract, tokenId: '10', lastTokenId: '14' } as const
    const [move] = describeRecord(confirmed({ transfers: [{ ...range, from: nobody, to: me }] }), me).moves
    expect(move).toMatchObject({ amount: 5n, token: { id: '10', lastId: '14' } })
  })

  it('tells an exchange by what comes for what goes', () => {
    const swap = confirmed({ to: contract, data: '0x12', transfers: [{ ...erc20, from: contract, to: me }] })
    expect(describeRecord(swap, me)).toMatchObject({ deed: 'exchanged', counterparty: contract })
  })

  it('finds who was paid by a contract, and by whom', () => {
    const internal = [{ kind: 'call' as const, from: contract, to: me, value: '0x9' as const }]
    expect(describeRecord(confirmed({ from: friend, to: contract, data: '0x12', internal }), me)).toEqual({
      deed: 'received',
      counterparty: contract,
      moves: [{ direction: 'in', amount: 9n, partner: contract, isInternal: true }]
    })
  })

  it('calls a call what moves nothing or only pays', () => {
    expect(describeRecord(confirmed({ value: '0x0', data: '0x12' }), me).deed).toBe('called')
    expect(describeRecord(confirmed({ data: '0x12' }), me).deed).toBe('called')
    expect(describeRecord(confirmed({ value: '0x0' }), me).deed).toBe('sent')
  })

  it('tells a creation from both sides', () => {
    const { to: _, ...creation } = confirmed({ contractAddress: contract, data: '0x60' })
    expect(describeRecord(creation, me)).toMatchObject({ deed: 'created', counterparty: contract })
    expect(describeRecord(creation, contract)).toMatchObject({
      deed: 'wasCreated',
      counterparty: me.toLowerCase()
    })
  })

  it('does not say who got what where transfers are not known', () => {
    const told = describeRecord(confirmed({ from: friend, to: contract, data: '0x12' }), me)
    expect(told).toEqual({ deed: 'involved', counterparty: friend, moves: [] })
  })

  it('names no fee before it is paid', () => {
    const { gasSpent: _, fees: __, ...rest } = confirmed()
    const pending: PendingTransaction = { ...rest, status: 1 }
    expect(describeRecord(pending, me).feeWei).toBeUndefined()
  })
})
