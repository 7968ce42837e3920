import { seedEvmWorld, startAnvil } from '@chain-data/devnet'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createEvmSource } from '../../src/evm/blocks/evmSource.ts'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'
import { nodeShapes } from './nodeShapes.ts'
import { oddBlocks } from './oddBlocks.ts'
import { randomLogs, saidTransfer } from './randomLogs.ts'
import { address, erc20Transfer, quantity, type RawParts, rawBlock, transactionHash } from './rawBlock.ts'
import { type BlockBytes, bytesOf, createFastReading, readOrdinarily } from './readBothWays.ts'
import { setCodeTuples } from './setCodeTuples.ts'
import { startScriptedChain } from './startScriptedChain.ts'
import { waivedBlocks } from './waivedBlocks.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? Date.now() % 2 ** 31)
const readFast = createFastReading()

/** @returns whether the fast path took it; what it took is what the ordinary path makes of it. */
function isTaken(bytes: BlockBytes): boolean {
  const fast = readFast(bytes)
  if (fast === undefined) return false
  expect(fast).toBe(readOrdinarily(bytes))
  return true
}

const someParts: readonly RawParts[] = [
  {
    logs: [
      erc20Transfer(address(500), address(1), address(2)),
      erc20Transfer(address(501), address(1), address(2))
    ]
  },
  { transaction: { to: null, input: '0x6001' }, receipt: { contractAddress: address(13) } },
  {
    transaction: {
      type: '0x2',
      maxFeePerGas: '0x70',
      maxPriorityFeePerGas: '0x2',
      accessList: [{ address: address(3), storageKeys: [`0x${'0'.repeat(63)}1`, `0x${'a'.repeat(64)}`] }],
      input: `0xa9059cbb${'0'.repeat(24)}${'b'.repeat(40)}${'0'.repeat(61)}102`
    },
    receipt: { status: '0x0' }
  },
  { transaction: { type: '0x1', accessList: [], value: '0x0', nonce: '0x0' } }
]

/** Changes bytes at a place that is drawn: puts others there, takes some out, repeats some, or exchanges two stretches. */
const mutation = fc
  .tuple(
    fc.constantFrom('put', 'cut', 'repeat', 'exchange'),
    fc.nat(1_000_000),
    fc.nat(1_000_000),
    fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 90 })),
    fc.constantFrom(
      ...'"{}[],:0x1fF nul \\\n\u00ff',
      'null',
      '""',
      '"0x"',
      '0x0',
      '{}',
      '[]',
      '"from":',
      '"0x1",'
    )
  )
  .map(([kind, first, second, length, text]) => (bytes: Uint8Array): Uint8Array => {
    const [a, b] = [first % bytes.length, second % bytes.length].sort((x, y) => x - y) as [number, number]
    const part = (start: number, end: number) => bytes.subarray(start, end)
    if (kind === 'put')
      return Buffer.concat([part(0, a), Buffer.from(text), part(a + text.length, bytes.length)])
    if (kind === 'cut') return Buffer.concat([part(0, a), part(a + length, bytes.length)])
    if (kind === 'repeat') return Buffer.concat([part(0, a + length), part(a, bytes.length)])
    const size = Math.min(length, b - a, bytes.length - b)
    return Buffer.concat([
      part(0, a),
      part(b, b + size),
      part(a + size, b),
      part(a, a + size),
      part(b + size, bytes.length)
    ])
  })

describe('what the fast path takes', () => {
  it.each(nodeShapes)('are blocks as these nodes write them: $name', ({ write }) => {
    for (const parts of [someParts, [...someParts].reverse()]) {
      const { block, receipts } = write(rawBlock(16, parts))
      expect(isTaken(bytesOf(16, block, receipts))).toBe(true)
    }
  })

  it('is one whole block, at the height asked for', () => {
    const { block, receipts } = rawBlock(16, someParts)
    const whole = bytesOf(16, block, receipts)
    expect(isTaken(whole)).toBe(true)
    expect(readFast({ ...whole, number: 17 })).toBeUndefined()
    for (const behind of [' ', ',"id":1', '}', ']', '0']) {
      expect(readFast({ ...whole, block: Buffer.concat([whole.block, Buffer.from(behind)]) })).toBeUndefined()
      const receiptsToo = Buffer.concat([whole.receipts, Buffer.from(behind)])
      expect(readFast({ ...whole, receipts: receiptsToo })).toBeUndefined()
    }
  })

  it('may be larger than everything it is read into', () => {
    const parts = Array.from(
      { length: 400 },
      (_, i): RawParts => ({
        transaction: { input: `0x${'a'.repeat(400)}` },
        logs: Array.from({ length: 4 }, (_, place) =>
          erc20Transfer(address(500 + place), address(10 * i + 1), address(10 * i + 2))
        )
      })
    )
    const { block, receipts } = rawBlock(16, parts)
    // Its own reader: the others have grown already.
    const bytes = bytesOf(16, block, receipts)
    expect(createFastReading()(bytes)).toBe(readOrdinarily(bytes))
  })

  it('comes from a node without being parsed, and the rest is parsed', async () => {
    const odd = rawBlock(2, [{ transaction: { nonce: 7 } }])
    const node = await startScriptedChain([rawBlock(1, someParts), odd])
    const rpc = createEvmRpc({ chainId: 31_337, rpcUrls: [node.url] })
    const source = createEvmSource({ rpc, finality: 'auto' })
    const parse = vi.spyOn(JSON, 'parse')
    const timesParsed = (number: number) =>
      parse.mock.calls.filter(([text]) => text.includes(`"hash":"${transactionHash(number, 0)}"`)).length
    try {
      expect((await source.block(1)).transactionCount).toBe(someParts.length)
      expect((await source.block(2)).transactionCount).toBe(1)
      expect([1, 2].map(timesParsed)).toEqual([0, 1])
    } finally {
      parse.mockRestore()
      rpc.close()
      await node.close()
    }
  })

  it('are all blocks with transactions of an anvil on which every kind of them was sent', async () => {
    const node = await startAnvil()
    try {
      const { world } = await seedEvmWorld(node.rpcUrl, { pool: false })
      const call = async (method: string, params: readonly unknown[]) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
        const response = await fetch(node.rpcUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body
        })
        const text = await response.text()
        return { text: Buffer.from(text.slice(text.indexOf('"result":') + 9, -1)), ...JSON.parse(text) }
      }
      const head = Number((await call('eth_blockNumber', [])).result)
      let taken = 0
      for (let number = 1; number <= head; number++) {
        const block = await call('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
        const receipts = await call('eth_getBlockReceipts', [block.result.hash])
        const bytes = { number, block: block.text, receipts: receipts.text }
        const isEmpty = block.result.transactions.length === 0
        expect([number, isTaken(bytes)]).toEqual([number, !isEmpty])
        if (!isEmpty) taken++
      }
      expect(taken).toBeGreaterThan(10)
      expect(world.transactions.length).toBeGreaterThan(taken)
    } finally {
      await node.stop()
    }
  })
})

/** Shapes that few nodes write; the ordinary path reads them. */
const leftToOthers = [
  'OP deposit (0x7e): no nonce, no signature, no gas price; the receipt knows the nonce',
  'Arbitrum retryable (0x69): no receiver that would be a creation',
  'Tron-like: a native transaction without receiver or code, zero receipts root, padded nonce',
  'IoTeX-like: a status that is a code, no effective price, no type, an empty receiver',
  'neither effectiveGasPrice nor contractAddress in the receipt',
  'a price that follows from the caps and the base fee',
  'type, gas and nonce as numbers, and no transaction index',
  'upper-case hex, quantities of odd length, with leading zeros, and 0x for zero',
  'no sender in the transaction: the receipt has it'
]

describe('an odd block of a real chain', () => {
  const rows = oddBlocks.map((odd, place) => ({ ...odd, number: place + 1 }))

  it.each(rows)(
    'is read as by the ordinary path, or left to it: $name',
    ({ name, number, parts, header }) => {
      const { block, receipts } = rawBlock(number, [parts], header)
      expect([name, isTaken(bytesOf(number, block, receipts))]).toEqual([name, !leftToOthers.includes(name)])
    }
  )

  it.each(waivedBlocks)('that needs a waiver is left to the ordinary path: $name', ({ build }) => {
    const { block, receipts } = build(16)
    expect(readFast(bytesOf(16, block, receipts))).toBeUndefined()
  })
})

/** What may stand in the place of a member; `undefined` leaves it out. */
const oddValues: readonly unknown[] = [
  ...[
    undefined,
    null,
    '',
    '0x',
    '0x0',
    '0x1',
    '0x2',
    '0x7f',
    '0x00000000000000005',
    '0xG',
    'x',
    '1',
    7,
    -1,
    1.5
  ],
  ...[
    true,
    false,
    [],
    {},
    ['0x1'],
    { a: '0x1' },
    '0x'.padEnd(66, '0'),
    '0x'.padEnd(66, 'f'),
    '0x'.padEnd(67, '1')
  ],
  ...[
    address(998),
    address(998).slice(2),
    `0X${'1'.repeat(40)}`,
    '0x'.padEnd(514, '0'),
    '0x'.padEnd(514, '3')
  ],
  ...['0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421', '\n', 'ä', '"', '\\']
]

/** Values that are no JSON, and two that are written with escapes. */
const oddTexts = [
  '007',
  '-',
  '-0',
  '+1',
  '.5',
  '1.',
  '1e3',
  'nul',
  'nulll',
  'True',
  "'0x1'",
  '"\t"',
  '"',
  '',
  '[1,]'
]
const escaped = ['"\\u0030x1"', '"a\\"b"', '{"a":1,}', '{"a"}', '[[[]]', '{"a":{"b":[null,true,0]}}']

/** The member left out, each odd value in its place, its own in upper case, and the member given twice. */
function changesOf(whole: string, owner: Readonly<Record<string, unknown>>, name: string): string[] {
  const text = JSON.stringify(owner)
  const write = (value: unknown) => whole.replace(text, JSON.stringify({ ...owner, [name]: value }))
  const own = owner[name]
  const twice = (first: unknown) => `{${JSON.stringify(name)}:${JSON.stringify(first)},${text.slice(1)}`
  return [
    ...oddValues.map(write),
    ...[...oddTexts, ...escaped].map(odd => write('@odd@').replace('"@odd@"', () => odd)),
    ...(typeof own === 'string' ? [write(own.toUpperCase()), write(own.replace('0x', '0x00'))] : []),
    ...[null, own, '0x1'].map(first => whole.replace(text, twice(first)))
  ]
}

describe.each(nodeShapes.filter(({ name }) => /geth/.test(name)))(
  'each member of a block as written by $name',
  ({ write }) => {
    const { block, receipts } = write(rawBlock(16, someParts))
    const [blockText, receiptsText] = [block, receipts].map(part => JSON.stringify(part)) as [string, string]
    const { transactions, ...header } = block
    const firstReceipt = receipts[0] ?? {}
    const [firstLog] = firstReceipt.logs as Record<string, unknown>[]

    it('may be anything, and what is taken is what the ordinary path takes', () => {
      let taken = 0
      const check = (changedBlock: string, changedReceipts: string) => {
        const bytes = { number: 16, block: Buffer.from(changedBlock), receipts: Buffer.from(changedReceipts) }
        if (isTaken(bytes)) taken++
      }
      for (const name of Object.keys(header)) {
        for (const text of changesOf(blockText, block, name)) check(text, receiptsText)
      }
      for (const transaction of (transactions as Record<string, unknown>[]).slice(1, 3)) {
        for (const name of Object.keys(transaction)) {
          for (const text of changesOf(blockText, transaction, name)) check(text, receiptsText)
        }
      }
      for (const owner of [...receipts.slice(0, 2), firstLog ?? {}]) {
        for (const name of Object.keys(owner)) {
          for (const text of changesOf(receiptsText, owner, name)) check(blockText, text)
        }
      }
      expect(taken).toBeGreaterThan(100)
    })
  }
)

/** A deposit that mints, and a transaction with authorities. */
const partsWithEvents: readonly RawParts[] = [
  {
    transaction: { type: '0x7e', mint: '0x5', gasPrice: '0x0', sourceHash: transactionHash(1, 1) },
    receipt: { effectiveGasPrice: '0x0', depositNonce: '0x1' }
  },
  {
    transaction: {
      type: '0x4',
      maxFeePerGas: '0x70',
      maxPriorityFeePerGas: '0x2',
      chainId: '0x1',
      authorizationList: setCodeTuples
    },
    receipt: { status: '0x0' }
  }
]

describe('each member that speaks of other accounts', () => {
  const { block, receipts } = rawBlock(16, partsWithEvents, { miner: address(7), baseFeePerGas: '0x7' })
  const blockText = JSON.stringify(block)
  const [deposit = {}, setCode = {}] = block.transactions
  const read = (text: string) => isTaken({ ...bytesOf(16, block, receipts), block: Buffer.from(text) })

  it('is read as by the ordinary path', () => {
    const rows = createFastReading()(bytesOf(16, block, receipts))
    expect(read(blockText)).toBe(true)
    // Two accounts, and whoever gets the tip.
    expect(rows).toContain(`"eventAddresses",\n  "${address(16).slice(2)}`)
    expect(rows).toMatch(/"eventAddresses",\s+"[0-9a-f]{120}"/)
  })

  it('may be anything, and what is taken is what the ordinary path takes', () => {
    const [tuple = {}] = setCodeTuples
    const changes = [
      ...changesOf(blockText, deposit, 'mint'),
      ...changesOf(blockText, setCode, 'chainId'),
      ...changesOf(blockText, setCode, 'authorizationList'),
      ...['chainId', 'nonce', 'address', 'yParity', 's'].flatMap(name => changesOf(blockText, tuple, name))
    ]
    const taken = changes.filter(read).length
    expect(taken).toBeGreaterThan(100)
    expect(changes.length - taken).toBeGreaterThan(100)
  })
})

describe(`random blocks (seed ${seed}, CHAIN_DATA_TEST_SEED repeats it)`, () => {
  /** Bytes with runs of zeros of all lengths between. */
  const calldata = fc
    .array(
      fc.tuple(fc.nat(7), fc.uint8Array({ maxLength: 3 })).map(([zeros, bytes]) => {
        return '00'.repeat(zeros) + Buffer.from(bytes).toString('hex')
      }),
      { maxLength: 8 }
    )
    .map(parts => `0x${parts.join('')}`)
  const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(quantity)
  const price = fc
    .oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 2n ** 70n }))
    .map(quantity)
  const anyPart = fc
    .record({
      logs: randomLogs,
      hasFailed: fc.boolean(),
      input: calldata,
      value: amount,
      type: fc.nat(5),
      effectiveGasPrice: price,
      authorizationList: fc.option(fc.subarray([...setCodeTuples]), { freq: 3, nil: undefined })
    })
    .map(({ logs, hasFailed, effectiveGasPrice, type, ...rest }): RawParts => {
      const caps = { maxFeePerGas: '0x70', maxPriorityFeePerGas: '0x2' }
      return {
        logs,
        transaction: { ...rest, ...caps, type: quantity(type) },
        receipt: { status: hasFailed ? '0x0' : '0x1', effectiveGasPrice }
      }
    })
  /** What is said in the calldata stands between other logs, some of which are about the same accounts. */
  const called = fc.tuple(saidTransfer, randomLogs, randomLogs, fc.boolean()).map(
    ([{ log, ...transaction }, before, after, isTwice]): RawParts => ({
      transaction,
      logs: [...before, log, ...(isTwice ? [log] : []), ...after]
    })
  )
  const creation = fc.tuple(calldata, randomLogs).map(
    ([input, logs]): RawParts => ({
      transaction: { to: null, input },
      receipt: { contractAddress: address(500) },
      logs
    })
  )
  const deposit = fc.tuple(amount, randomLogs).map(
    ([mint, logs]): RawParts => ({
      transaction: { type: '0x7e', mint },
      receipt: { depositNonce: '0x1' },
      logs
    })
  )
  const part = fc.oneof(
    { weight: 4, arbitrary: anyPart },
    { weight: 4, arbitrary: called },
    { weight: 1, arbitrary: creation },
    { weight: 1, arbitrary: deposit }
  )
  const someAddress = fc.constantFrom(0, 1, 2, 7, 16).map(address)
  const withdrawal = fc.record({
    index: fc.constant('0x1'),
    address: someAddress,
    amount: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(quantity)
  })
  const header = fc.record(
    {
      miner: someAddress,
      baseFeePerGas: fc.nat(200).map(quantity),
      withdrawals: fc.array(withdrawal, { maxLength: 5 })
    },
    { requiredKeys: [] }
  )
  const whole = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), header)
    .map(([parts, members]) => rawBlock(16, parts, members))

  it('with logs that are transfers, or nearly, are taken and read as by the ordinary path', () => {
    fc.assert(
      fc.property(whole, ({ block, receipts }) => {
        expect(isTaken(bytesOf(16, block, receipts))).toBe(true)
      }),
      { seed, numRuns: 200 }
    )
  })

  it('in whose bytes something was changed are read as by the ordinary path, or left to it', () => {
    const counts = { taken: 0, left: 0 }
    // Making a block costs more than reading it many times.
    const blocks = fc
      .sample(whole, { seed, numRuns: 40 })
      .map(({ block, receipts }) => bytesOf(16, block, receipts))
    const changes = fc.array(mutation, { minLength: 1, maxLength: 2 })
    fc.assert(
      fc.property(fc.constantFrom(...blocks), changes, fc.boolean(), (bytes, list, inBlock) => {
        const changed = list.reduce((text, mutate) => mutate(text), inBlock ? bytes.block : bytes.receipts)
        const isOne = isTaken(inBlock ? { ...bytes, block: changed } : { ...bytes, receipts: changed })
        counts[isOne ? 'taken' : 'left']++
      }),
      { seed, numRuns: 2_000 }
    )
    expect(Math.min(counts.taken, counts.left)).toBeGreaterThan(100)
  })
})
