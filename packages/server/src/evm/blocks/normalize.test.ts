import { describe, expect, it } from 'vitest'
import { NodeContradictionError } from '../../platform/errors.ts'
import { normalizeBlock } from './normalize.ts'
import { verifyHeader, verifyReceipts } from './verify.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const sender = `0x${'a'.repeat(40)}`
const receiver = `0x${'b'.repeat(40)}`
const created = `0x${'c'.repeat(40)}`

type Raw = Record<string, unknown>
const baseTransaction: Raw = {
  hash: hash('1'),
  blockHash: hash('9'),
  blockNumber: '0x10',
  transactionIndex: '0x0',
  from: sender,
  to: receiver,
  value: '0x5',
  input: '0x',
  gas: '0x5208',
  gasPrice: '0x64',
  nonce: '0x7',
  type: '0x0'
}
const baseReceipt: Raw = {
  transactionHash: hash('1'),
  transactionIndex: '0x0',
  blockHash: hash('9'),
  blockNumber: '0x10',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x64',
  status: '0x1',
  contractAddress: null,
  logs: []
}

function without(raw: Raw, ...names: string[]): Raw {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !names.includes(name)))
}

function normalizeOne(transaction: Raw, receipt: Raw, block: Raw = {}) {
  const raw = {
    number: '0x10',
    hash: hash('9'),
    parentHash: hash('8'),
    timestamp: '0x65',
    transactions: [transaction],
    ...block
  }
  const { block: normalized, ignoredLogs } = normalizeBlock(verifyReceipts(verifyHeader(raw, 16), [receipt]))
  const [first] = normalized.transactions
  return { ...first!, block: normalized, ignoredLogs }
}

describe('normalizeBlock', () => {
  it('keeps every field of a plain transfer', () => {
    const { block } = normalizeOne(baseTransaction, baseReceipt)
    expect(block).toEqual({
      ref: { number: 16, hash: hash('9') },
      parentHash: hash('8'),
      timestampSeconds: 101,
      transactions: [
        {
          transaction: {
            hash: hash('1'),
            from: sender,
            to: receiver,
            value: 5n,
            data: '0x',
            gasLimit: 21000n,
            nonce: 7n,
            type: 0,
            blockNumber: 16,
            index: 0,
            timestampSeconds: 101,
            status: 3,
            gasPrice: 100n,
            gasSpent: 21000n,
            feeWei: 2_100_000n
          },
          parties: [sender, receiver],
          candidates: [],
          transfers: []
        }
      ],
      events: []
    })
  })

  it('gives what is paid above the base fee to the fee recipient, also by a transaction that failed', () => {
    const miner = `0x${'d'.repeat(40)}`
    const paid = (receipt: Raw, block: Raw = {}) =>
      normalizeOne(baseTransaction, { ...baseReceipt, ...receipt }, { miner, ...block }).block.events
    const tip = (amount: bigint) => [{ address: miner, events: [{ kind: 'tip', amount }] }]
    expect(paid({}, { baseFeePerGas: '0x60' })).toEqual(tip(4n * 21_000n))
    expect(paid({ status: '0x0' }, { baseFeePerGas: '0x60' })).toEqual(tip(4n * 21_000n))
    expect(paid({})).toEqual(tip(100n * 21_000n))
    expect(paid({}, { baseFeePerGas: '0x64' })).toEqual([])
    expect(paid({ effectiveGasPrice: '0x0' }, { baseFeePerGas: '0x64' })).toEqual([])
  })

  it('has the transfers in the receipt of a transaction that failed', () => {
    const topics = [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      hash('0'),
      hash('0')
    ]
    const logs = [{ address: receiver, topics, data: hash('0'), blockHash: hash('9') }]
    expect(normalizeOne(baseTransaction, { ...baseReceipt, logs }).transfers).toHaveLength(1)
    const failed = normalizeOne(baseTransaction, { ...baseReceipt, logs, status: '0x0' })
    expect(failed.transfers).toHaveLength(1)
    expect(failed.transaction.status).toBe(4)
  })

  it.each([
    ['a status of 0', { status: '0x0' }, 4],
    ['a status of 1', { status: '0x1' }, 3],
    ['no status but a root', { status: undefined, root: hash('5') }, 3],
    ['a failed status and a root', { status: '0x0', root: hash('5') }, 4],
    ['an empty status', { status: null }, 3],
    ['a padded status', { status: '0x00' }, 4],
    ['a status as a number', { status: 1 }, 3],
    ['a status that is a code of failure', { status: '0x6a' }, 4],
    ['no status and all gas used', { status: undefined, gasUsed: '0x5208' }, 3]
  ])('reads %s', (_, change, status) => {
    expect(normalizeOne(baseTransaction, { ...baseReceipt, ...change }).transaction.status).toBe(status)
  })

  it('takes the gas price from the transaction where the receipt has none', () => {
    const { transaction } = normalizeOne(baseTransaction, without(baseReceipt, 'effectiveGasPrice'))
    expect(transaction).toMatchObject({ gasPrice: 100n, feeWei: 2_100_000n })
  })

  it.each([
    ['base fee and tip', '0x3', 40n + 3n],
    ['the fee cap', '0x30', 50n]
  ])('computes the gas price as %s where the receipt has none', (_, tip, price) => {
    const fees = { type: '0x2', maxFeePerGas: '0x32', maxPriorityFeePerGas: tip }
    const receipt = without(baseReceipt, 'effectiveGasPrice')
    const { transaction } = normalizeOne({ ...baseTransaction, ...fees }, receipt, { baseFeePerGas: '0x28' })
    expect(transaction.gasPrice).toBe(price)
  })

  it('adds blob gas and the fee of the parent chain', () => {
    const extra = { blobGasUsed: '0x20000', blobGasPrice: '0x3', l1Fee: '0x7' }
    const feeOf = (type: string) =>
      normalizeOne({ ...baseTransaction, type }, { ...baseReceipt, ...extra }).transaction.feeWei
    expect(feeOf('0x3')).toBe(2_100_000n + 0x20000n * 3n + 7n)
    expect(feeOf('0x7b')).toBe(2_100_000n + 0x20000n * 3n + 7n)
    expect(feeOf('0x2')).toBe(2_100_000n + 7n)
  })

  it('takes the one price paid for both caps where a protocol type has none', () => {
    const bare = without(baseTransaction, 'gasPrice')
    const caps = { maxFeePerGas: 100n, maxPriorityFeePerGas: 100n }
    expect(normalizeOne({ ...bare, type: '0x2' }, baseReceipt).transaction).toMatchObject(caps)
    const free = normalizeOne({ ...bare, type: '0x4' }, without(baseReceipt, 'effectiveGasPrice')).transaction
    expect(free).toMatchObject({ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, gasPrice: 0n })
    expect(normalizeOne({ ...bare, type: '0x71' }, baseReceipt).transaction).not.toHaveProperty(
      'maxFeePerGas'
    )
  })

  it('takes a rollup deposit without nonce, gas price and signature', () => {
    const deposit = { ...without(baseTransaction, 'nonce', 'gasPrice'), type: '0x7e', mint: '0x0' }
    const receipt = { ...without(baseReceipt, 'effectiveGasPrice'), depositNonce: '0x9', l1Fee: null }
    expect(normalizeOne(deposit, receipt).transaction).toMatchObject({
      type: 126,
      nonce: 9n,
      gasPrice: 0n,
      feeWei: 0n
    })
    expect(normalizeOne(deposit, without(receipt, 'depositNonce')).transaction.nonce).toBe(0n)
  })

  it('counts a missing type as 0, with a gas price and without an access list', () => {
    const old = { ...without(baseTransaction, 'type'), accessList: [], maxFeePerGas: '0x0' }
    const { transaction } = normalizeOne(old, baseReceipt)
    expect(transaction.type).toBe(0)
    expect(transaction).not.toHaveProperty('accessList')
    expect(transaction).not.toHaveProperty('maxFeePerGas')
  })

  it('passes types through that nobody knows, without making fields up', () => {
    const { transaction } = normalizeOne({ ...baseTransaction, type: '0xfe' }, baseReceipt)
    expect(transaction.type).toBe(254)
    expect(transaction).not.toHaveProperty('accessList')
  })

  it('gives a protocol type an empty access list where the node leaves it out', () => {
    expect(normalizeOne({ ...baseTransaction, type: '0x4' }, baseReceipt).transaction.accessList).toEqual([])
  })

  it('reads access lists in lower case', () => {
    const accessList = [{ address: receiver.toUpperCase().replace('0X', '0x'), storageKeys: [hash('F')] }]
    const { transaction } = normalizeOne({ ...baseTransaction, type: '0x1', accessList }, baseReceipt)
    expect(transaction.accessList).toEqual([{ address: receiver, storageKeys: [hash('f')] }])
  })

  it('is exact beyond 2^53', () => {
    const huge = { value: `0x${'f'.repeat(64)}`, nonce: '0xffffffffffffffff', gas: '0xfffffffffffffffe' }
    expect(normalizeOne({ ...baseTransaction, ...huge }, baseReceipt).transaction).toMatchObject({
      value: 2n ** 256n - 1n,
      nonce: 2n ** 64n - 1n,
      gasLimit: 2n ** 64n - 2n
    })
  })

  it('accepts quantities in odd forms', () => {
    const odd = { value: '0x', nonce: '0x0007', gas: 21000, type: '0x00' }
    const { transaction, block } = normalizeOne({ ...baseTransaction, ...odd }, baseReceipt, {
      number: 16,
      timestamp: 101
    })
    expect(transaction).toMatchObject({ value: 0n, nonce: 7n, gasLimit: 21000n, type: 0 })
    expect(block.timestampSeconds).toBe(101)
  })

  it.each([['10'], ['0xg'], [-1], [1.5], [true], [{}], [`0x1${'0'.repeat(64)}`]])(
    'refuses %j as a quantity',
    value => {
      expect(() => normalizeOne({ ...baseTransaction, value }, baseReceipt)).toThrow(NodeContradictionError)
    }
  )

  describe('a created contract', () => {
    const creation = { ...baseTransaction, to: null }
    it('is a party and named', () => {
      const { transaction, parties } = normalizeOne(creation, { ...baseReceipt, contractAddress: created })
      expect(transaction).not.toHaveProperty('to')
      expect(transaction.contractAddress).toBe(created)
      expect(parties).toEqual([sender, created])
    })

    it('is not named after a plain call or a failed creation, whatever the receipt says', () => {
      const receipt = { ...baseReceipt, contractAddress: created }
      for (const odd of [
        normalizeOne(baseTransaction, receipt),
        normalizeOne(creation, { ...receipt, status: '0x0' })
      ]) {
        expect(odd.transaction).not.toHaveProperty('contractAddress')
        expect(odd.parties).not.toContain(created)
      }
    })

    it('follows from sender and nonce where the receipt leaves it out', () => {
      // The first contract of this well-known development account.
      const from = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
      const { transaction } = normalizeOne(
        { ...creation, from, nonce: '0x0', input: '0x00' },
        without(baseReceipt, 'contractAddress')
      )
      expect(transaction.contractAddress).toBe('0x5fbdb2315678afecb367f032d93f642f64180aa3')
    })

    it('is not made up where there is no code to create one from', () => {
      expect(normalizeOne(creation, baseReceipt).transaction).not.toHaveProperty('contractAddress')
      expect(normalizeOne(creation, without(baseReceipt, 'contractAddress')).parties).toEqual([sender])
    })

    it('is not made up for a type of which a missing receiver need not mean a creation', () => {
      const custom = { ...without(baseTransaction, 'to'), type: '0x7a' }
      const { transaction, parties } = normalizeOne(custom, baseReceipt)
      expect(transaction).not.toHaveProperty('contractAddress')
      expect(parties).toEqual([sender])
    })
  })

  describe('logs', () => {
    const topic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    const word = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`
    const other = `0x${'d'.repeat(40)}`
    const logs = [
      { address: receiver, topics: [topic, word(sender), word(other)], data: hash('0') },
      { address: receiver, topics: [topic], data: '0x' }
    ]

    it('add the parties of transfers, each once', () => {
      const { parties, candidates, ignoredLogs } = normalizeOne(baseTransaction, { ...baseReceipt, logs })
      expect(parties).toEqual([sender, receiver, other])
      expect(candidates.map(({ owner }) => owner)).toEqual([sender, other])
      expect(ignoredLogs).toBe(1)
    })

    it('of a failed transaction count as any others: some chains log fees there', () => {
      const { parties, candidates } = normalizeOne(baseTransaction, { ...baseReceipt, status: '0x0', logs })
      expect(parties).toEqual([sender, receiver, other])
      expect(candidates.map(({ owner }) => owner)).toEqual([sender, other])
    })
  })
})
