import { describe, expect, it } from 'vitest'
import { BrokenChecksError } from '../../src/evm/blocks/verification/blockChecks.ts'
import { createWaivers } from '../../src/evm/blocks/verification/contradiction.ts'
import { verifyHeader, verifyReceipts } from '../../src/evm/blocks/verify.ts'
import { type WaivableCheck, waivableCheckNames } from '../../src/model/waivableChecks.ts'
import { NodeContradictionError } from '../../src/platform/errors.ts'
import { address, blockHash, emptyRoot, erc20Transfer, type RawBlock, rawBlock } from './rawBlock.ts'
import { waivedBlocks } from './waivedBlocks.ts'

const number = 16

function verify({ block, receipts }: RawBlock, checks: readonly WaivableCheck[] = []) {
  const waivers = createWaivers(checks.map(check => ({ check, reason: 'a test' })))
  // As it comes from a node: nothing is undefined.
  const [rawHeader, rawReceipts] = JSON.parse(JSON.stringify([block, receipts])) as [unknown, unknown]
  return verifyReceipts(verifyHeader(rawHeader, number, waivers), rawReceipts, waivers)
}

function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof NodeContradictionError) return error.message
    throw error
  }
  return 'accepted'
}

describe('a check that real chains break', () => {
  it('has a block here for each waiver', () => {
    const waived = waivableCheckNames.filter(name => name !== 'unknownBlock')
    expect(new Set(waivedBlocks.flatMap(({ needs }) => needs))).toEqual(new Set(waived))
  })

  it.each(waivedBlocks)('passes with its waivers: $name', ({ needs, build, keeps }) => {
    const raw = build(number)
    const listed = raw.block.transactions
    const kept = verify(raw, needs).transactions
    expect(kept.map(({ hash }) => hash)).toEqual(keeps.map(place => listed[place]?.hash))
    // The last receipt of a hash counts.
    for (const { hash, receipt } of kept) {
      expect(receipt?.status).toBe(
        raw.receipts.findLast(({ transactionHash }) => transactionHash === hash)?.status
      )
    }
  })

  it.each(waivedBlocks)('is refused without any one of them, naming it: $name', row => {
    const { needs, otherwise = [], build } = row
    const others = waivableCheckNames.filter(name => ![...needs, ...otherwise].includes(name))
    for (const needed of needs) {
      const message = refusal(() =>
        verify(build(number), [...others, ...needs.filter(name => name !== needed)])
      )
      const named = otherwise.length > 0 ? otherwise.join('|') : needed
      expect(message).toMatch(new RegExp(`^block 16\\b.*\\(waiver (${named})( indexes .*)?\\)$`))
    }
  })
})

describe('a block that breaks several checks', () => {
  /** Breaks a check in the header, and others in its receipts; one of them in two receipts. */
  const { block, receipts } = rawBlock(number, [{}, {}, {}], { transactionsRoot: emptyRoot })
  const odd: RawBlock = {
    block,
    receipts: receipts.map((receipt, i) => ({
      ...receipt,
      ...(i > 0 ? { to: address(998) } : {}),
      cumulativeGasUsed: '0x1'
    }))
  }
  const thrownBy = (act: () => unknown): unknown => {
    try {
      return act()
    } catch (error) {
      return error
    }
  }

  it('is refused once with all of them, each with its first place, and the waivers for them', () => {
    const error = thrownBy(() => verify(odd))
    if (!(error instanceof BrokenChecksError)) throw error
    expect(error.broken.map(({ check, count }) => [check, count])).toEqual([
      ['emptyRoot', 1],
      ['cumulativeGas', 3],
      ['receiptParties', 2]
    ])
    expect(error.message).toMatch(
      /^block 16: breaks 3 checks: emptyRoot, cumulativeGas, receiptParties; transactionsRoot is .* \(waiver emptyRoot\); receipt 0 has .* and 2 more \(waiver cumulativeGas\); receipt 1 has to .* and 1 more \(waiver receiptParties\)$/
    )
    for (const { reason } of error.waivers) expect(reason.length).toBeLessThanOrEqual(200)
    expect(error.waivers.map(({ check, fromBlock, toBlock }) => [check, fromBlock, toBlock])).toEqual([
      ['emptyRoot', 16, 16],
      ['cumulativeGas', 16, 16],
      ['receiptParties', 16, 16]
    ])
    const waivers = createWaivers(error.waivers)
    expect(
      verifyReceipts(verifyHeader(odd.block, number, waivers), odd.receipts, waivers).transactions
    ).toHaveLength(3)
  })

  it('lists only what is not waived', () => {
    expect(refusal(() => verify(odd, ['emptyRoot', 'cumulativeGas']))).toMatch(
      /^block 16: receipt 1 has to .* and 1 more \(waiver receiptParties\)$/
    )
  })

  it('is refused at once for a contradiction, with the checks that were broken before', () => {
    const [first, second, third] = odd.receipts
    const other = { block, receipts: [first, second, { ...third, blockHash: blockHash(17) }] } as RawBlock
    const error = thrownBy(() => verify(other))
    if (!(error instanceof BrokenChecksError)) throw error
    expect(error.broken.map(({ check }) => check)).toEqual(['emptyRoot', 'unknownReceipt'])
    expect(error.message).toMatch(/receipt 2 is of block 0x.* \(waiver unknownReceipt indexes .*\)$/)
  })
})

describe('a contradiction', () => {
  const whole = rawBlock(number, [
    { logs: [erc20Transfer(address(500), address(1), address(2))] },
    { logs: [erc20Transfer(address(500), address(3), address(4))] }
  ])
  const [first = {}, second = {}] = whole.receipts
  const [log] = first.logs as object[]
  const withLog = (change: object): RawBlock => ({
    ...whole,
    receipts: [{ ...first, logs: [{ ...log, ...change }] }, second]
  })

  it.each<[string, RawBlock, RegExp]>([
    ['a log of another block', withLog({ blockHash: blockHash(17) }), /log 0 is of block 0x/],
    ['a log of another height', withLog({ blockNumber: '0x11' }), /log 0 is of block 17$/],
    [
      'a log of another transaction',
      withLog({ transactionHash: blockHash(5) }),
      /log 0 is of transaction 0x/
    ],
    ['a log without an address', withLog({ address: undefined }), /address of a log is nothing/],
    ['a log without topics', withLog({ topics: undefined }), /topics of a log is nothing/],
    ['a log with half a topic', withLog({ topics: ['0x12'] }), /topics of a log is "0x12"/],
    ['logs that are no list', { ...whole, receipts: [{ ...first, logs: {} }, second] }, /logs is \{\}/],
    ['receipts in another order', { ...whole, receipts: [second, first] }, /receipt 0 is for 0x/],
    [
      'receipts of another block',
      {
        ...whole,
        receipts: rawBlock(17, [{}, {}]).receipts.map(receipt => ({ ...receipt, blockNumber: '0x10' }))
      },
      /receipt 0 is of block 0x/
    ],
    [
      'a node that lags, although the block promises receipts',
      { ...whole, receipts: [] },
      /the node gave 0 receipts for 2 transactions; if no node has them, the waiver unknownBlock/
    ],
    [
      'an uncle, which lists no transactions',
      { ...whole, block: { ...whole.block, transactions: undefined } as unknown as RawBlock['block'] },
      /transactions is nothing/
    ]
  ])('is never excused: %s', (_, raw, message) => {
    expect(refusal(() => verify(raw, waivableCheckNames))).toMatch(message)
  })
})

describe('the size of a block', () => {
  it('is 65,536 places at most: one more is told apart from a wrong order', () => {
    const transactions = Array.from({ length: 65_537 }, (_, i) => ({
      hash: `0x${i.toString(16).padStart(64, '0')}`
    }))
    const { block } = rawBlock(number, [])
    const header = (count: number) =>
      verifyHeader(
        {
          ...block,
          transactionsRoot: blockHash(1),
          receiptsRoot: blockHash(2),
          transactions: transactions.slice(0, count)
        },
        number
      )
    expect(header(65_536).transactions.at(-1)?.index).toBe(65_535)
    expect(refusal(() => header(65_537))).toContain('has index 65536; the index holds indexes up to 65535')
  })
})
