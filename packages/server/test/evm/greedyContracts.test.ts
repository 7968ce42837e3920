import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { Address, HoldingCandidate } from '@chain-data/index'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEvmHoldings } from '../../src/evm/holdings/holdings.ts'
import { strategyNames } from '../../src/evm/state/findStrategies.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { type NodeProxy, startNodeProxy } from '../upstreams/startNodeProxy.ts'
import {
  type Answer,
  assembleContract,
  loops,
  returnsLongText,
  returnsText,
  returnsWord,
  selectors
} from './assembleContract.ts'
import {
  callTo,
  createPlacer,
  nobody as owner,
  resultsOf,
  returnedWord,
  useMulticall
} from './useMulticall.ts'

let anvil: AnvilNode
let proxy: NodeProxy
let rpc: EvmUpstreams
let token: Address
let looping: Address
let gallery: Address
let wordy: Address
let place: (answers: Readonly<Record<string, Answer>>) => Promise<Address>

beforeAll(async () => {
  anvil = await startAnvil()
  proxy = await startNodeProxy(anvil.rpcUrl)
  rpc = createEvmRpc({ chainId: 31337, rpcUrls: [proxy.url] })
  const placeCode = createPlacer(rpc, 'anvil_setCode')
  place = answers => placeCode(assembleContract(answers))
  // Of two contracts the first one deployed here has the lower address and comes first in every list.
  looping = await place({ [selectors.ownerOf]: loops })
  gallery = await place({ [selectors.ownerOf]: returnsWord(owner), [selectors.tokenURI]: loops })
  wordy = await place({
    [selectors.ownerOf]: returnsWord(owner),
    [selectors.tokenURI]: returnsLongText(500_000)
  })
  token = await place({
    [selectors.balanceOf]: returnsWord(7),
    [selectors.ownerOf]: returnsWord(owner),
    [selectors.tokenURI]: returnsText('ipfs://x'),
    [selectors.decimals]: returnsWord(18)
  })
  await rpc.request({ method: 'evm_mine', params: [] })
})
afterAll(async () => {
  rpc?.close()
  await proxy?.close()
  await anvil?.stop()
})
beforeEach(() => {
  proxy.calls.length = 0
})

const ids = (contract: Address, count: number): HoldingCandidate[] =>
  Array.from({ length: count }, (_, i) => ({ owner, contract, standard: 'erc721', tokenId: BigInt(i) }))

test.each([
  ['ownerOf', () => looping, 0, 'OWNER_UNREADABLE'],
  ['tokenURI', () => gallery, 10_000, 'TOKEN_URI_UNREADABLE']
])(
  'a contract that logs 10,000 ids and whose %s never ends costs the account nothing else',
  async (_, bad, held, reason) => {
    const holdings = createEvmHoldings({ rpc, chainId: 31337 })
    const candidates = [
      ...ids(bad(), 10_000),
      ...ids(token, 20),
      { owner, contract: token, standard: 'erc20' as const }
    ]
    const found = await holdings.readHoldings({ address: owner, candidates, deadlineMs: Date.now() + 25_000 })
    expect(found.tokens).toMatchObject([{ address: token, amount: 7n }])
    const own = found.nfts.filter(({ address }) => address === token)
    expect(own.map(({ tokenUri }) => tokenUri)).toEqual(own.map(() => 'ipfs://x'))
    expect(own).toHaveLength(20)
    expect(found.nfts).toHaveLength(20 + held)
    expect(found.incomplete.map(item => [item.address, item.tokenId, item.reason])).toEqual(
      ids(bad(), 10_000).map(({ contract, tokenId }) => [contract, tokenId, reason])
    )
  }
)

test('a contract with endless token URIs leaves room for the URIs of others', async () => {
  const holdings = createEvmHoldings({ rpc, chainId: 31337 })
  const candidates = [...ids(wordy, 80), ...ids(token, 100)]
  const found = await holdings.readHoldings({ address: owner, candidates })
  const listed = (contract: Address) =>
    found.nfts.filter(({ address, tokenUri }) => address === contract && tokenUri !== '').length
  expect(found.nfts).toHaveLength(180)
  expect(listed(token)).toBe(100)
  expect(listed(wordy)).toBe(67)
  expect(found.incomplete).toHaveLength(13)
})

test('a contract that has failed often is asked no more, by plain calls', async () => {
  const calls = [
    ...Array.from({ length: 3_000 }, () => callTo(looping, { data: '0x6352211e' })),
    callTo(token)
  ]
  const found = await useMulticall(rpc, { strategies: ['plain'] }, multicall => resultsOf(multicall, calls))
  expect(found.slice(0, 3_000).every(({ kind }) => kind === 'failed')).toBe(true)
  expect(found[3_000]).toEqual(returnedWord(7))
  const asked = proxy.calls.filter(({ params }) => JSON.stringify(params).includes(looping.slice(2)))
  expect(asked.length).toBeLessThan(600)
})

test('one that fails now and then is asked to the end', async () => {
  const calls = Array.from({ length: 600 }, (_, i) =>
    callTo(looping, { data: i % 3 === 0 ? '0x6352211e' : '0x70a08231' })
  )
  const found = await useMulticall(rpc, { strategies: ['plain'] }, multicall => resultsOf(multicall, calls))
  expect(found.filter(({ kind }) => kind === 'reverted')).toHaveLength(400)
})

test.each(strategyNames)('contracts take turns, by %s', async way => {
  const order: Address[] = []
  await useMulticall(rpc, { strategies: [way] }, multicall =>
    multicall.callAll(
      [...Array.from({ length: 50 }, () => gallery), token],
      to => callTo(to),
      (_, to) => order.push(to)
    )
  )
  expect(order.indexOf(token)).toBe(1)
})

test('what there is no time for has failed and is not sent', async () => {
  const calls = [callTo(token), callTo(token)]
  const late = { deadlineMs: Date.now() }
  expect(await useMulticall(rpc, late, multicall => resultsOf(multicall, calls))).toEqual([
    { kind: 'failed' },
    { kind: 'failed' }
  ])
  expect(proxy.calls.filter(({ params }) => JSON.stringify(params).includes(token.slice(2)))).toEqual([])
})
