import type { EvmHoldings, SolanaHoldings, TransactionRecord } from '@chain-data/client'
import { expect, test } from 'vitest'
import { evmHoldingsTables, solanaHoldingsTables, transactionsTable } from './answerTables.ts'

const alice = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const bob = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

function transaction(change: Partial<TransactionRecord>): TransactionRecord {
  return {
    ...{ hash: `0x${'ab'.repeat(32)}`, from: alice, to: bob, value: '0xde0b6b3a7640000', data: '0x' },
    ...{ gasLimit: 21000, timestamp: 1_700_000_012, status: 3, type: 0, nonce: 0, gasPrice: '0x3b9aca00' },
    ...{ gasSpent: '0x5208', fees: '0x1319718a5000', blockNumber: 1 },
    ...change
  } as TransactionRecord
}

/** Cells of the table row that holds a text. */
function rowWith(table: string, text: string): string[] {
  const row = table.split('\n').find(line => line.includes(text))
  if (row === undefined) throw new Error(`no row with ${text} in\n${table}`)
  return row
    .split('│')
    .slice(1, -1)
    .map(cell => cell.trim())
}

test('a transaction is told from the side of the address, with exact ether and fee', () => {
  const out = rowWith(transactionsTable([transaction({})], alice.toLowerCase()), 'success')
  expect(out).toEqual([
    '2023-11-14 22:13:32',
    'success',
    '0',
    'out',
    '0x3C44…93BC',
    '1',
    '21000',
    '0xabab…abab'
  ])
  expect(rowWith(transactionsTable([transaction({})], bob), 'success').slice(3, 5)).toEqual([
    'in',
    '0x7099…79C8'
  ])
  expect(rowWith(transactionsTable([transaction({ to: alice })], alice), 'success')[3]).toBe('self')
  expect(rowWith(transactionsTable([transaction({})], `0x${'11'.repeat(20)}`), 'success')[3]).toBe('token')
})

test('a pending creation has no fee and no receiver', () => {
  const record = transaction({ status: 1 }) as unknown as Record<string, unknown>
  delete record.to
  delete record.fees
  const row = rowWith(transactionsTable([record as unknown as TransactionRecord], alice), 'pending')
  expect(row[4]).toBe('new contract')
  expect(row[6]).toBe('')
})

test('rows beyond what fits are counted, an empty history says so', () => {
  const many = Array.from({ length: 40 }, (_, nonce) => transaction({ nonce }))
  const table = transactionsTable(many, alice)
  expect(table.split('\n').filter(line => line.includes('success')).length).toBe(15)
  expect(table).toContain('… and 25 more')
  expect(transactionsTable([], alice)).toBe('none')
})

test('a table wider than the terminal goes without its least needed columns and says which', () => {
  const many = [transaction({ value: '0x1' })]
  const widthAt = (columns?: number) =>
    Math.max(
      ...transactionsTable(many, alice, columns)
        .split('\n')
        .map(line => line.length)
    )
  const full = widthAt()
  expect(widthAt(full)).toBe(full)
  expect(widthAt(full - 1)).toBeLessThan(full)
  expect(widthAt(80)).toBeLessThanOrEqual(80)
  expect(transactionsTable(many, alice)).not.toContain('no room')
  const narrow = transactionsTable(many, alice, 80)
  expect(narrow).toContain('(no room here for: type, fee (gwei), time (UTC))')
  expect(rowWith(narrow, 'success')).toEqual([
    ...['success', 'out', '0x3C44…93BC', '0.000000000000000001', '0xabab…abab']
  ])
})

test('EVM holdings show exact amounts, and hostile names are harmless', () => {
  const holdings: EvmHoldings = {
    native: '1000000000000000001',
    tokens: [
      {
        ...{ decimals: 6, amount: '1234567', address: bob, symbol: 'A\u202eB', image: '' },
        name: '\u001b[2J\u001b[31mFree\nmoney'
      }
    ],
    nfts: [
      {
        ...{ address: bob, isSemiFungible: true, tokenId: (2n ** 255n).toString(), tokenBalance: '3' },
        ...{ tokenURI: '', name: 'Sword', symbol: 'ITEM', image: '', data: { name: 'Sword' } }
      }
    ],
    incomplete: [{ address: bob, tokenId: '7', reason: 'SOMETHING' }]
  }
  const text = evmHoldingsTables(holdings)
  expect(text).toContain('Balance: 1.000000000000000001 ether')
  expect(rowWith(text, 'Free')).toEqual(['Free money', 'AB', '1.234567', '0x3C44…93BC'])
  expect(rowWith(text, 'Sword').slice(2, 6)).toEqual(['578960…9968', '3', 'ERC-1155', 'read'])
  expect(text).toContain('Could not be read (1): 0x3C44…93BC id 7 (SOMETHING)')
  expect(text).not.toContain('\u001b')
})

test('Solana holdings take the exact twins of numbers that a double rounds', () => {
  const holdings: SolanaHoldings = {
    lamports: Number(2n ** 64n),
    lamportsString: '18446744073709551613',
    tokens: [
      {
        ...{ decimals: 9, amount: Number(2n ** 64n), amountString: '18446744073709551615', address: 'Acc' },
        ...{ mint: 'Mint', name: '', symbol: '', image: '' }
      }
    ],
    nfts: []
  }
  const text = solanaHoldingsTables(holdings)
  expect(text).toContain('Balance: 18446744073.709551613 SOL')
  expect(rowWith(text, 'Mint')[2]).toBe('18446744073.709551615')
  expect(text).toContain('NFTs: none')
})
