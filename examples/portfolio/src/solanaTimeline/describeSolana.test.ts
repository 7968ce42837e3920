import type { SolanaTransaction } from '@chain-data/client/fetch'
import { expect, it } from 'vitest'
import { describeSolana } from './describeSolana.ts'

const base: SolanaTransaction = {
  ...{ signature: 's', slot: 1, status: 'success', confirmationStatus: 'finalized', version: 0 },
  ...{ fee: '5000', feePayer: 'me', tokens: [], programs: [] }
}
const token = (mint: string, pre: string, post: string, account = 'a') => ({
  ...{ account, mint, owner: 'me', pre, post, decimals: 6 }
})

it('the fee that the wallet paid is apart from what it sent', () => {
  const lamports = { pre: '1000000', post: '894999' }
  expect(describeSolana({ ...base, lamports }, 'me')).toEqual({
    ...{ deed: 'sent', feeLamports: 5000n, moves: [{ change: -100_001n, decimals: 9 }] }
  })
  expect(describeSolana({ ...base, lamports, feePayer: 'other' }, 'me')).toEqual({
    ...{ deed: 'sent', moves: [{ change: -105_001n, decimals: 9 }] }
  })
})

it('token accounts of one mint are added up with every digit, and what stays the same is left out', () => {
  const tokens = [
    token('coin', '18446744073709551615', '0'),
    token('coin', '1', '18446744073709551614', 'b'),
    token('piece', '5', '5')
  ]
  expect(describeSolana({ ...base, tokens, feePayer: 'other' }, 'me')).toEqual({
    ...{ deed: 'sent', moves: [{ mint: 'coin', change: -2n, decimals: 6 }] }
  })
})

it('tells an exchange and a transaction that changed nothing', () => {
  const tokens = [token('coin', '7', '0'), token('piece', '0', '1')]
  expect(describeSolana({ ...base, tokens }, 'me').deed).toBe('exchanged')
  const lamports = { pre: '10000', post: '5000' }
  expect(describeSolana({ ...base, lamports, status: 'failed' }, 'me')).toEqual({
    ...{ deed: 'unchanged', moves: [], feeLamports: 5000n }
  })
})
