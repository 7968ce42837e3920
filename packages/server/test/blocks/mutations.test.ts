import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { verifyHeader, verifyReceipts } from '../../src/evm/blocks/verify.ts'
import { NodeContradictionError } from '../../src/platform/errors.ts'
import { type Raw, type RawBlock, type RawLog, rawBlock, referenceBloom, transferTopic } from './rawBlock.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const rawLog = fc.record<RawLog>({
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex),
  topics: fc.oneof(fc.array(word, { maxLength: 4 }), fc.tuple(fc.constant(transferTopic), word, word)),
  data: word
})
/** Two transactions at least, with two logs at least among them. */
const logsOfBlock = fc
  .array(fc.array(rawLog, { maxLength: 4 }), { minLength: 2, maxLength: 6 })
  .filter(lists => lists.flat().length >= 2)

function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function verify({ block, receipts }: RawBlock) {
  return verifyReceipts(verifyHeader(block, 16), receipts)
}

const build = (lists: readonly (readonly RawLog[])[]) =>
  rawBlock(
    16,
    lists.map(logs => ({ logs }))
  )
const withLogs = (receipt: Raw, logs: readonly unknown[]): Raw => ({ ...receipt, logs })
const logsOf = (receipt: Raw) => receipt.logs as (RawLog & Raw)[]
const put = <T>(list: readonly T[], place: number, item: T) =>
  list.map((old, i) => (i === place ? item : old))
const flip = (hex: string, bit: number) =>
  `0x${(BigInt(hex) ^ (1n << BigInt(bit % (4 * (hex.length - 2))))).toString(16).padStart(hex.length - 2, '0')}`

/** Each changes one thing; `pick` chooses where. Gives nothing where the block has no such place. */
const mutations: Readonly<Record<string, (whole: RawBlock, pick: number) => RawBlock | undefined>> = {
  'a log removed': ({ block, receipts }, pick) => {
    const withSome = receipts.flatMap((receipt, i) => (logsOf(receipt).length > 0 ? [i] : []))
    const place = withSome[pick % withSome.length] ?? 0
    const receipt = receipts[place]!
    const logs = logsOf(receipt).toSpliced(pick % logsOf(receipt).length, 1)
    return { block, receipts: put(receipts, place, withLogs(receipt, logs)) }
  },
  'a topic flipped': ({ block, receipts }, pick) => {
    const places = receipts.flatMap((receipt, i) =>
      logsOf(receipt).flatMap((log, j) => log.topics.map((_, k) => [i, j, k] as const))
    )
    const found = places[pick % places.length]
    if (found === undefined) return undefined
    const [i, j, k] = found
    const receipt = receipts[i]!
    const log = logsOf(receipt)[j]!
    const changed = { ...log, topics: put(log.topics, k, flip(log.topics[k]!, pick)) }
    return { block, receipts: put(receipts, i, withLogs(receipt, put(logsOf(receipt), j, changed))) }
  },
  'two receipts swapped': ({ block, receipts }, pick) => {
    const [i, j] = [pick % receipts.length, (pick + 1) % receipts.length]
    return { block, receipts: put(put(receipts, i, receipts[j]!), j, receipts[i]!) }
  },
  'a receipt of another block': ({ block, receipts }, pick) => {
    const place = pick % receipts.length
    return { block, receipts: put(receipts, place, { ...receipts[place], blockHash: `0x${'7'.repeat(64)}` }) }
  },
  'receipts cut short': ({ block, receipts }, pick) => ({
    block,
    receipts: receipts.slice(0, pick % receipts.length)
  }),
  'transactions cut short': ({ block, receipts }, pick) => ({
    block: { ...block, transactions: block.transactions.slice(0, pick % receipts.length) },
    receipts
  }),
  'a receipt hash changed': ({ block, receipts }, pick) => {
    const place = pick % receipts.length
    const receipt = receipts[place]!
    const changed = { ...receipt, transactionHash: flip(receipt.transactionHash as string, pick) }
    return { block, receipts: put(receipts, place, changed) }
  },
  'the block hash changed': ({ block, receipts }, pick) => ({
    block: { ...block, hash: flip(block.hash as string, pick) },
    receipts
  }),
  'the bloom changed': ({ block, receipts }, pick) => ({
    block: { ...block, logsBloom: flip(block.logsBloom as string, pick) },
    receipts
  }),
  'gas used changed': ({ block, receipts }, pick) => {
    const place = pick % receipts.length
    const receipt = receipts[place]!
    return {
      block,
      receipts: put(receipts, place, { ...receipt, gasUsed: flip(receipt.gasUsed as string, pick) })
    }
  }
}

/** The logs of a receipt leave a trace in its bloom; where a change leaves none, nobody can see it. */
function leavesTrace(before: RawBlock, after: RawBlock): boolean {
  return (
    JSON.stringify(before.receipts.map(({ logs, ...rest }) => rest)) !==
      JSON.stringify(after.receipts.map(({ logs, ...rest }) => rest)) ||
    JSON.stringify(before.block) !== JSON.stringify(after.block) ||
    before.receipts.some(
      (receipt, i) => referenceBloom(logsOf(receipt)) !== referenceBloom(logsOf(after.receipts[i]!))
    )
  )
}

describe(`a block (seed ${seed}, CHAIN_DATA_TEST_SEED repeats it)`, () => {
  it('in which everything agrees is accepted whole', () => {
    fc.assert(
      fc.property(logsOfBlock, lists => {
        expect(verify(build(lists)).transactions).toHaveLength(lists.length)
      }),
      { seed, numRuns: 100 }
    )
  })

  it.each(Object.keys(mutations))('with %s is refused', name => {
    fc.assert(
      fc.property(logsOfBlock, fc.nat(1_000_000), (lists, pick) => {
        const whole = build(lists)
        const changed = mutations[name]?.(whole, pick)
        fc.pre(changed !== undefined && leavesTrace(whole, changed))
        expect(() => verify(changed!)).toThrow(NodeContradictionError)
      }),
      { seed, numRuns: 100 }
    )
  })
})
