import type { Address, Hash } from '@chain-data/index'
import { people } from '@chain-data/index/test'
import { beforeEach, describe, expect, it } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { type AnswerChecker, createAnswerChecker, type Told, type ToldRecord } from './checkAnswer.ts'
import { createSimulatedChain, type SimulatedChain } from './simulatedChain.ts'

const staleMs = 10_000

let nowMs: number
let chain: SimulatedChain
let checker: AnswerChecker
/** The account with the most transactions. */
let address: Address

beforeEach(() => {
  nowMs = 1_000
  chain = createSimulatedChain(createRandom(7), () => nowMs)
  for (let round = 0; round < 6; round++) {
    chain.send(6)
    chain.mine(1)
  }
  checker = createAnswerChecker(chain, { node: { oldestShownMs: () => nowMs }, staleMs })
  address = [...people].sort((a, b) => right(b).length - right(a).length)[0] as Address
})

function head(): number {
  return chain.now().blocks.length - 1
}

/** The true answer now. */
function right(account: Address): readonly ToldRecord[] {
  const { blocks, pool } = chain.now()
  const pending = pool.filter(({ from, to }) => from === account || to === account)
  const mined = blocks
    .flatMap(({ transactions }) => transactions)
    .filter(each => each.parties.includes(account))
  return [
    ...pending.map(({ hash }) => ({ hash, status: 1, timestamp: 1 })),
    ...mined
      .map(({ transaction: { hash, status = 3, timestampSeconds, blockNumber } }) => ({
        ...{ hash, status, blockNumber },
        timestamp: timestampSeconds
      }))
      .reverse()
  ]
}

function told(records: readonly ToldRecord[], more: Partial<Told> = {}): Told {
  return {
    address,
    askedMs: nowMs,
    toldMs: nowMs,
    answer: { kind: 'records', records, from: 0, to: head() },
    ...more
  }
}

function refused(
  reason: string,
  before: Hash,
  lastCommonBlock?: { blockNumber: number; blockHash: string }
): Told {
  return told([], {
    before,
    answer: { kind: 'refused', reason, ...(lastCommonBlock && { lastCommonBlock }) }
  })
}

const confirmedOf = (records: readonly ToldRecord[]) => records.filter(({ status }) => status > 1)

it('the true answer is right, whole and in pages', () => {
  const records = right(address)
  expect(confirmedOf(records).length).toBeGreaterThan(3)
  expect(records.length).toBeGreaterThan(confirmedOf(records).length)
  expect(checker.check(told(records))).toBeUndefined()
  expect(checker.check(told(records.slice(0, 2), { limit: 2 }))).toBeUndefined()
  const [first, ...rest] = confirmedOf(records)
  expect(checker.check(told(rest.slice(0, 2), { limit: 2, before: first!.hash }))).toBeUndefined()
})

it('of a reorg that the index has not met, no transaction is missed that its chain has below the first block', () => {
  const to = head()
  const records = right(address).filter(({ blockNumber = to }) => blockNumber === to)
  const inPart = () => told(records, { answer: { kind: 'records', records, from: to, to } })
  expect(checker.check(told(right(address)))).toBeUndefined()
  expect(checker.check(inPart())).toBeUndefined()
  chain.reorg(4, 1)
  expect(checker.check(inPart())).toBeUndefined()
})

it('a transaction of a block before the first indexed one may be pending', () => {
  const to = head()
  const [old] = confirmedOf(right(address)).filter(({ blockNumber = to }) => blockNumber < to)
  const newest = right(address).filter(({ blockNumber = to }) => blockNumber === to)
  const records = [{ ...old!, status: 1 }, ...newest]
  const page = (from: number) =>
    told(records, { limit: records.length, answer: { kind: 'records', records, from, to } })
  expect(checker.check(page(to))).toBeUndefined()
  expect(checker.check(page(old!.blockNumber!))).toMatch('confirmed in the same chain')
})

describe('a wrong history is noticed', () => {
  it.each<[string, (records: readonly ToldRecord[]) => readonly ToldRecord[]]>([
    ['without its newest confirmed transaction', all => all.filter(each => each !== confirmedOf(all)[0])],
    ['without its oldest one', all => all.slice(0, -1)],
    ['empty', () => []],
    ['with one twice', all => [...all, ...all.slice(-1)]],
    ['in another order', all => [...all.slice(0, -2), ...all.slice(-2).reverse()]],
    [
      'with another block',
      all =>
        all.map(each =>
          each.blockNumber === undefined ? each : { ...each, blockNumber: each.blockNumber + 1 }
        )
    ],
    [
      'with another time',
      all => all.map(each => (each.status > 1 ? { ...each, timestamp: each.timestamp + 1 } : each))
    ],
    [
      'with another outcome',
      all => all.map(each => (each.status > 1 ? { ...each, status: 7 - each.status } : each))
    ],
    [
      'with a confirmed one pending',
      all => [{ hash: confirmedOf(all)[0]!.hash, status: 1, timestamp: 1 }, ...all.slice(1)]
    ],
    ['with a pending one that never was', all => [{ hash: '0x99', status: 1, timestamp: 1 }, ...all]]
  ])('%s', (_, change) => {
    expect(checker.check(told(change(right(address))))).toBeTypeOf('string')
  })

  it('of a chain that is long gone', () => {
    const before = told(right(address))
    chain.reorg(2, 3)
    nowMs += staleMs + 1
    chain.mine(1)
    expect(checker.check({ ...before, askedMs: nowMs, toldMs: nowMs })).toMatch(/outdated|left the pool/)
  })

  it('without what was shown before, also when the rest is a chain that was', () => {
    const before = confirmedOf(right(address))
    chain.send(10)
    chain.mine(1)
    expect(checker.check(told(right(address)))).toBeUndefined()
    const old = told(before, { answer: { kind: 'records', records: before, from: 0, to: head() - 1 } })
    expect(checker.check(old)).toMatch('is missing, and has not gone')
  })
})

describe('a wrong page or refusal is noticed', () => {
  it('a page that leaves one out, or begins at another place', () => {
    const [first, second, ...rest] = confirmedOf(right(address))
    expect(checker.check(told(rest, { before: first!.hash }))).toMatch('explains the page')
    expect(checker.check(told([second!, ...rest], { before: second!.hash }))).toMatch('explains the page')
  })

  it('a cursor that was shown and is unknown, unless commits were lost', () => {
    const records = right(address)
    checker.check(told(records))
    const { hash } = records.at(-1)!
    expect(checker.check(refused('INVALID_PARAMS', hash))).toMatch('is unknown')
    expect(checker.check(refused('NOT_SYNCED', hash))).toMatch('backfilled again')
    checker.lostCommits()
    expect(checker.check(refused('INVALID_PARAMS', hash))).toBeUndefined()
  })

  it('a common block that the two chains do not share', () => {
    const { hash, blockNumber = 0 } = confirmedOf(right(address))[0]!
    const { ref } = chain.now().blocks[blockNumber - 1]!
    chain.reorg(head() - blockNumber + 1, 9)
    const [kept, other] = [chain.now().blocks[blockNumber - 1]!, chain.now().blocks[blockNumber]!]
    const reorged = (block: typeof kept) =>
      refused('CURSOR_REORGED', hash, { blockNumber: block.ref.number, blockHash: block.ref.hash })
    expect(kept.ref).toEqual(ref)
    expect(checker.check(reorged(kept))).toBeUndefined()
    expect(checker.check(reorged(other))).toMatch('in common')
  })
})
