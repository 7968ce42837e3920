import { AbiCoder, id } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLogs } from './readLogs.ts'

const abi = AbiCoder.defaultAbiCoder()
const token = '0x00000000000000000000000000000000000000aa'
const alice = '0x1111111111111111111111111111111111111111'
const bob = '0x2222222222222222222222222222222222222222'
const operator = '0x3333333333333333333333333333333333333333'
const zero = '0x0000000000000000000000000000000000000000'

const transfer = id('Transfer(address,address,uint256)')
const single = id('TransferSingle(address,address,address,uint256,uint256)')
const consecutive = id('ConsecutiveTransfer(uint256,uint256,address,address)')
const deposit = id('Deposit(address,uint256)')
const withdrawal = id('Withdrawal(address,uint256)')
const batch = id('TransferBatch(address,address,address,uint256[],uint256[])')
const topicOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const wordOf = (value: bigint | number) => `0x${BigInt(value).toString(16).padStart(64, '0')}`
const log = (topics: string[], data = '0x') => ({
  address: token.toUpperCase().replace('0X', '0x'),
  topics,
  data
})
const batchLog = (data: string) => log([batch, topicOf(operator), topicOf(alice), topicOf(bob)], data)
const batchData = (ids: bigint[], values: bigint[]) => abi.encode(['uint256[]', 'uint256[]'], [ids, values])

describe('readLogs', () => {
  it('takes 3 topics and 32 bytes as ERC-20, a hint for both sides', () => {
    expect(readLogs([log([transfer, topicOf(alice), topicOf(bob)], wordOf(5))])).toEqual({
      parties: [alice, bob],
      candidates: [
        { owner: alice, contract: token, standard: 'erc20' },
        { owner: bob, contract: token, standard: 'erc20' }
      ],
      transfers: [{ standard: 'erc20', contract: token, from: alice, to: bob, amount: 5n }],
      ignored: 0
    })
  })

  it('takes 4 topics and no data as ERC-721, a hint for the receiver', () => {
    const tokenId = 2n ** 256n - 1n
    expect(readLogs([log([transfer, topicOf(alice), topicOf(bob), wordOf(tokenId)])])).toEqual({
      parties: [alice, bob],
      candidates: [{ owner: bob, contract: token, standard: 'erc721', tokenId }],
      transfers: [{ standard: 'erc721', contract: token, from: alice, to: bob, tokenId }],
      ignored: 0
    })
  })

  it('takes 1 topic and 96 bytes as a token from before ERC-721', () => {
    const data = abi.encode(['address', 'address', 'uint256'], [alice, bob, 7n])
    expect(readLogs([log([transfer], data)])).toEqual({
      parties: [alice, bob],
      candidates: [{ owner: bob, contract: token, standard: 'erc721', tokenId: 7n }],
      transfers: [{ standard: 'erc721', contract: token, from: alice, to: bob, tokenId: 7n }],
      ignored: 0
    })
  })

  it('takes TransferSingle as ERC-1155, without its operator', () => {
    const data = abi.encode(['uint256', 'uint256'], [9n, 100n])
    const read = readLogs([log([single, topicOf(operator), topicOf(alice), topicOf(bob)], data)])
    expect(read.parties).toEqual([alice, bob])
    expect(read.candidates).toEqual([
      { owner: alice, contract: token, standard: 'erc1155', tokenId: 9n },
      { owner: bob, contract: token, standard: 'erc1155', tokenId: 9n }
    ])
    expect(read.transfers).toEqual([
      { standard: 'erc1155', contract: token, from: alice, to: bob, tokenId: 9n, amount: 100n }
    ])
  })

  it('reads every id of a TransferBatch, each as one transfer', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.bigInt(0n, 2n ** 256n - 1n), { maxLength: 20 }), ids => {
        const values = ids.map(id => 2n ** 256n - 1n - id)
        const read = readLogs([batchLog(batchData(ids, values))])
        expect(read.transfers).toEqual(
          ids.map((tokenId, i) => ({
            ...{ standard: 'erc1155', contract: token, from: alice, to: bob },
            ...{ tokenId, amount: values[i] }
          }))
        )
        expect(read.ignored).toBe(0)
        expect(read.parties).toEqual([alice, bob])
        const owned = read.candidates.filter(({ owner }) => owner === bob).map(({ tokenId }) => tokenId)
        expect(owned).toEqual(ids)
        expect(read.candidates).toHaveLength(2 * ids.length)
      })
    )
  })

  it('keeps the zero address as a party, but not as a holder after a mint', () => {
    const read = readLogs([log([transfer, topicOf(zero), topicOf(bob)], wordOf(5))])
    expect(read.parties).toEqual([zero, bob])
    expect(read.candidates.map(({ owner }) => owner)).toEqual([bob])
  })

  it('names each party and each candidate once', () => {
    const again = log([transfer, topicOf(alice), topicOf(bob)], wordOf(5))
    const read = readLogs([again, again, log([transfer, topicOf(bob), topicOf(alice)], wordOf(1))])
    expect(read.parties).toEqual([alice, bob])
    expect(read.candidates).toHaveLength(2)
  })

  it('lists every transfer in the order of the logs, also the same one twice', () => {
    const again = log([transfer, topicOf(alice), topicOf(bob)], wordOf(5))
    const nft = log([transfer, topicOf(alice), topicOf(bob), wordOf(5)])
    const { transfers } = readLogs([again, log([deposit, topicOf(bob)], wordOf(1)), nft, again])
    expect(transfers.map(({ standard, amount, tokenId }) => [standard, amount, tokenId])).toEqual([
      ['erc20', 5n, undefined],
      ['erc20', 1n, undefined],
      ['erc721', undefined, 5n],
      ['erc20', 5n, undefined]
    ])
  })

  it.each([
    ['an ERC-20 transfer without an amount', log([transfer, topicOf(alice), topicOf(bob)])],
    [
      'an ERC-20 transfer with trailing bytes',
      log([transfer, topicOf(alice), topicOf(bob)], `${wordOf(5)}00`)
    ],
    ['an ERC-721 transfer with data', log([transfer, topicOf(alice), topicOf(bob), wordOf(1)], wordOf(1))],
    ['2 topics', log([transfer, topicOf(alice)], wordOf(1))],
    ['an address with more than 20 bytes', log([transfer, wordOf(2n ** 160n), topicOf(bob)], wordOf(1))],
    [
      'TransferSingle with one number',
      log([single, topicOf(operator), topicOf(alice), topicOf(bob)], wordOf(1))
    ],
    ['TransferSingle with 3 topics', log([single, topicOf(alice), topicOf(bob)], wordOf(1))],
    ['a range that descends', log([consecutive, wordOf(2), topicOf(alice), topicOf(bob)], wordOf(1))],
    ['a range without its end', log([consecutive, wordOf(2), topicOf(alice), topicOf(bob)])],
    [
      'a range with trailing bytes',
      log([consecutive, wordOf(2), topicOf(alice), topicOf(bob)], `${wordOf(3)}00`)
    ],
    ['a range with 3 topics', log([consecutive, wordOf(2), topicOf(alice)], wordOf(3))],
    [
      'a range for an address with more than 20 bytes',
      log([consecutive, wordOf(2), topicOf(alice), wordOf(2n ** 160n)], wordOf(3))
    ],
    ['lists of different length', batchLog(batchData([1n, 2n], [1n]))],
    ['no data for the lists', batchLog('0x')],
    ['a truncated list', batchLog(batchData([1n, 2n], [1n, 2n]).slice(0, -64))],
    ['an offset into the offsets', batchLog(`0x${wordOf(0).slice(2)}${wordOf(32).slice(2)}`)],
    [
      'an offset beyond the data',
      batchLog(`0x${wordOf(2n ** 255n).slice(2)}${wordOf(64).slice(2)}${wordOf(0).slice(2)}`)
    ],
    [
      'a length beyond the data',
      batchLog(
        `0x${wordOf(64).slice(2)}${wordOf(64).slice(2)}${wordOf(2n ** 53n).slice(2)}${wordOf(1).slice(2)}`
      )
    ]
  ])('ignores and counts %s', (_, hostile) => {
    expect(readLogs([hostile])).toEqual({ parties: [], candidates: [], transfers: [], ignored: 1 })
  })

  describe('ConsecutiveTransfer', () => {
    const range = (first: bigint, last: bigint, from = alice) =>
      log([consecutive, wordOf(first), topicOf(from), topicOf(bob)], wordOf(last))

    it.each([
      [1n, 1_000_000n],
      [0n, 2n ** 256n - 1n],
      [2n ** 256n - 2n, 2n ** 256n - 1n]
    ])('from %i to %i is one hint for the receiver, both ends included', (tokenId, lastTokenId) => {
      expect(readLogs([range(tokenId, lastTokenId)])).toEqual({
        parties: [alice, bob],
        candidates: [{ owner: bob, contract: token, standard: 'erc721', tokenId, lastTokenId }],
        transfers: [{ standard: 'erc721', contract: token, from: alice, to: bob, tokenId, lastTokenId }],
        ignored: 0
      })
    })

    it('of one id is that id', () => {
      const tokenId = 2n ** 256n - 1n
      expect(readLogs([range(tokenId, tokenId, zero)])).toEqual({
        parties: [zero, bob],
        candidates: [{ owner: bob, contract: token, standard: 'erc721', tokenId }],
        transfers: [{ standard: 'erc721', contract: token, from: zero, to: bob, tokenId }],
        ignored: 0
      })
    })

    it('keeps apart ranges that share an end, and an id that begins one', () => {
      const logs = [range(1n, 5n), range(1n, 6n), range(1n, 5n), range(1n, 1n), range(0n, 5n)]
      expect(readLogs(logs).candidates.map(({ tokenId, lastTokenId }) => [tokenId, lastTokenId])).toEqual([
        [1n, 5n],
        [1n, 6n],
        [1n, undefined],
        [0n, 5n]
      ])
    })
  })

  describe('wrapped native currency', () => {
    it.each([
      ['a deposit', deposit, zero, alice],
      ['a withdrawal, which may leave a rest,', withdrawal, alice, zero]
    ])('%s is a hint for its account and makes it no party', (_, topic, from, to) => {
      expect(readLogs([log([topic, topicOf(alice)], wordOf(5))])).toEqual({
        parties: [],
        candidates: [{ owner: alice, contract: token, standard: 'erc20' }],
        transfers: [{ standard: 'erc20', contract: token, from, to, amount: 5n, isWrapping: true }],
        ignored: 0
      })
    })

    it('and a transfer of it make one hint', () => {
      const logs = [
        log([deposit, topicOf(alice)], wordOf(5)),
        log([transfer, topicOf(alice), topicOf(bob)], wordOf(5))
      ]
      expect(readLogs(logs).candidates.map(({ owner }) => owner)).toEqual([alice, bob])
    })

    it.each([
      ['an account that is not indexed', log([deposit], `${wordOf(1)}${wordOf(5).slice(2)}`)],
      ['a second number', log([deposit, topicOf(alice)], `${wordOf(1)}${wordOf(5).slice(2)}`)],
      ['a second topic', log([deposit, topicOf(alice), topicOf(bob)], wordOf(5))],
      ['no amount', log([withdrawal, topicOf(alice)])],
      ['an account with more than 20 bytes', log([deposit, wordOf(2n ** 160n)], wordOf(5))]
    ])('is something else with %s: no hint, and nothing to count', (_, other) => {
      expect(readLogs([other])).toEqual({ parties: [], candidates: [], transfers: [], ignored: 0 })
    })
  })

  it('reads an address and topics in upper case', () => {
    const upper = (hex: string) => hex.toUpperCase()
    const entry = log(
      [transfer, topicOf(alice), topicOf(`0x${'ab'.repeat(20)}`)].map(upper),
      upper(wordOf(5))
    )
    expect(readLogs([{ ...entry, address: upper(entry.address) }]).parties).toEqual([
      alice,
      `0x${'ab'.repeat(20)}`
    ])
  })

  describe('UserOperationEvent', () => {
    const topic = id('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)')
    const types = ['uint256', 'bool', 'uint256', 'uint256']
    const hash = `0x${'9a'.repeat(32)}`
    const nonce = (7n << 64n) + 2n
    const dataOf = (success: boolean) => abi.encode(types, [nonce, success, 5_000n, 40n])
    const event = (paymaster: string, data = dataOf(true)) =>
      log([topic, hash, topicOf(alice), topicOf(paymaster)], data)
    const common = { entryPoint: token, userOpHash: hash, sender: alice, nonce, actualGasCost: 5_000n }

    it('is an operation, whose sender is a party and no holder of anything', () => {
      expect(readLogs([event(zero), event(bob, dataOf(false))])).toEqual({
        parties: [alice],
        candidates: [],
        transfers: [],
        operations: [
          { ...common, success: true },
          { ...common, paymaster: bob, success: false }
        ],
        ignored: 0
      })
    })

    it.each([
      ['without its paymaster', log([topic, hash, topicOf(alice)], dataOf(true))],
      [
        'with its sender in the data',
        log([topic, hash], abi.encode(['address', ...types], [alice, 1, true, 2, 3]))
      ],
      ['with a success that is no boolean', event(zero, abi.encode(['uint256[4]'], [[nonce, 2n, 1n, 1n]]))],
      ['with more data', event(zero, `${dataOf(true)}${'00'.repeat(32)}`)],
      ['with less data', event(zero, dataOf(true).slice(0, -64))],
      ['with a sender of more than 20 bytes', log([topic, hash, hash, topicOf(zero)], dataOf(true))]
    ])('%s is ignored and counted', (_, wrong) => {
      expect(readLogs([wrong])).toEqual({ parties: [], candidates: [], transfers: [], ignored: 1 })
    })
  })

  it('does not count other events', () => {
    const approval = log([id('Approval(address,address,uint256)'), topicOf(alice), topicOf(bob)], wordOf(5))
    expect(readLogs([approval, log([], '0x')]).ignored).toBe(0)
  })

  it('never throws, and finds no more ids than the data has words', () => {
    const word = fc.oneof(
      fc.bigInt(0n, 2n ** 256n - 1n).map(wordOf),
      fc.integer({ min: 0, max: 300 }).map(wordOf),
      fc.constantFrom(topicOf(alice), topicOf(bob))
    )
    const data = fc.oneof(
      fc.array(word, { maxLength: 12 }).map(words => `0x${words.map(w => w.slice(2)).join('')}`),
      fc.uint8Array({ maxLength: 200 }).map(bytes => `0x${Buffer.from(bytes).toString('hex')}`)
    )
    const topics = fc
      .tuple(
        fc.constantFrom(transfer, single, batch, consecutive, deposit, withdrawal),
        fc.array(word, { maxLength: 4 })
      )
      .map(([first, rest]) => [first, ...rest])
    const shaped = fc.record({ address: fc.constant(token), topics, data })
    fc.assert(
      fc.property(fc.array(fc.oneof(shaped, fc.anything()), { maxLength: 5 }), logs => {
        const read = readLogs(logs)
        const words = logs.reduce<number>((sum, entry) => {
          const bytes = (entry as { data?: unknown } | null | undefined)?.data
          return sum + (typeof bytes === 'string' ? bytes.length / 64 : 0) + 1
        }, 0)
        expect(read.candidates.length).toBeLessThanOrEqual(2 * words)
        expect(read.transfers.length).toBeLessThanOrEqual(words)
        for (const { owner } of read.candidates) expect(owner).toMatch(/^0x[0-9a-f]{40}$/)
      }),
      { numRuns: 2_000 }
    )
  })

  it.each([undefined, null, {}, 'logs', 5, [null], [{}], [{ address: token, topics: 'x' }]])(
    'reads %j as no logs',
    raw => {
      expect(readLogs(raw)).toEqual({ parties: [], candidates: [], transfers: [], ignored: 0 })
    }
  )
})
