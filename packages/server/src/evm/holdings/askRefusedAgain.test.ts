import type { Address } from '@chain-data/index'
import { expect, test } from 'vitest'
import type { CallResult, ContractCall } from '../state/contractCalls.ts'
import type { Multicall } from '../state/multicall.ts'
import { type AskedCandidate, askRefusedAgain } from './askRefusedAgain.ts'

const owner: Address = `0x${'a1'.repeat(20)}`
const contractAt = (place: number): Address => `0x${place.toString(16).padStart(40, '0')}`
const reverted: CallResult = { kind: 'reverted' }
const ownedByOwner: CallResult = { kind: 'returned', data: owner.slice(2).padStart(64, '0') }

const refused = (contract: Address, tokenId: bigint): AskedCandidate => ({
  ...{ owner, contract, standard: 'erc721', tokenId, origin: 'log' },
  ...{ ownership: { kind: 'none' }, isRefusal: true }
})

/** Plain calls, of which `answer` says how they end; any other way is an error. */
function plainMulticall(answer: (call: ContractCall) => CallResult) {
  const sent: ContractCall[] = []
  const multicall: Multicall = {
    async callAll(items, callOf, read, options) {
      expect(options).toEqual({ strategy: 'plain' })
      return items.map(item => {
        const call = callOf(item)
        sent.push(call)
        return read(answer(call), item)
      })
    }
  }
  return { multicall, sent }
}

test('a contract that refuses again is believed after one call', async () => {
  const { multicall, sent } = plainMulticall(() => reverted)
  const asked = [1n, 2n, 3n].map(id => refused(contractAt(1), id))
  expect(await askRefusedAgain(multicall, asked)).toEqual(asked)
  expect(sent).toHaveLength(1)
})

test('a contract that answers now is asked for all that it refused, in order, and for nothing else', async () => {
  const averse = contractAt(1)
  const { multicall, sent } = plainMulticall(({ to }) => (to === averse ? ownedByOwner : reverted))
  const answered = { ...refused(averse, 9n), isRefusal: false }
  const asked = [refused(averse, 1n), refused(contractAt(2), 1n), answered, refused(averse, 2n)]
  const owned = await askRefusedAgain(multicall, asked)
  expect(owned.map(({ contract, tokenId }) => [contract, tokenId])).toEqual(
    asked.map(({ contract, tokenId }) => [contract, tokenId])
  )
  expect(owned.map(({ ownership }) => ownership.kind)).toEqual(['held', 'none', 'none', 'held'])
  expect(sent.map(({ to }) => to)).toEqual([averse, contractAt(2), averse, averse])
})

test('the work is bounded, and what is left over is not called nothing', async () => {
  const { multicall, sent } = plainMulticall(() => ownedByOwner)
  const asked = Array.from({ length: 1_200 }, (_, i) => refused(contractAt(1), BigInt(i)))
  const owned = await askRefusedAgain(multicall, asked)
  expect(sent).toHaveLength(1_001)
  expect(owned.slice(999, 1_001).map(({ ownership }) => ownership.kind)).toEqual(['held', 'unreadable'])

  const crowd = plainMulticall(() => reverted)
  const broken = Array.from({ length: 1_100 }, (_, i) => refused(contractAt(i), 1n))
  const left = await askRefusedAgain(crowd.multicall, broken)
  expect(crowd.sent).toHaveLength(1_024)
  expect(left.map(({ ownership }) => ownership.kind)).toEqual(
    broken.map((_, i) => (i < 1_024 ? 'none' : 'unreadable'))
  )
})

test('a collection whose first id was burnt is asked for the others as long as its balance is not accounted for', async () => {
  const balance = (amount: number): CallResult => ({
    kind: 'returned',
    data: amount.toString(16).padStart(64, '0')
  })
  const collection = (amount: number) =>
    plainMulticall(({ data }) => {
      if (data.startsWith('0x70a08231')) return balance(amount)
      return BigInt(`0x${data.slice(10)}`) === 1n ? reverted : ownedByOwner
    })
  const asked = [1n, 2n].map(id => refused(contractAt(1), id))
  const averse = collection(1)
  const owned = await askRefusedAgain(averse.multicall, asked)
  expect(owned.map(({ ownership }) => ownership.kind)).toEqual(['none', 'held'])

  const held: AskedCandidate = {
    ...refused(contractAt(1), 3n),
    ownership: { kind: 'held', amount: 1n },
    isRefusal: false
  }
  const accounted = collection(1)
  expect(await askRefusedAgain(accounted.multicall, [...asked, held])).toEqual([...asked, held])
  expect(accounted.sent).toHaveLength(1)
})

test('contracts take turns, so that one with many refusals leaves room for others', async () => {
  const { multicall } = plainMulticall(() => ownedByOwner)
  const many = Array.from({ length: 2_000 }, (_, i) => refused(contractAt(1), BigInt(i)))
  const owned = await askRefusedAgain(multicall, [...many, refused(contractAt(2), 1n)])
  expect(owned.at(-1)?.ownership.kind).toBe('held')
})
