import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { Address, Hex, HoldingCandidate } from '@chain-data/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEvmHoldings, type EvmHoldings, type HoldingsRequest } from '../../src/evm/holdings/holdings.ts'
import { BlockLostError } from '../../src/evm/state/pinBlock.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import type { NodeRpcError } from '../../src/platform/errors.ts'
import { type FaultProxy, Refusal, type RpcMessage, startFaultProxy } from '../support/startFaultProxy.ts'
import { type Rule, startNodeProxy } from '../upstreams/startNodeProxy.ts'
import {
  type Answer,
  assembleContract,
  invalid,
  loops,
  returns,
  returnsBytes32,
  returnsLongText,
  returnsSecondArgument,
  returnsText,
  returnsWord,
  returnsZeros,
  reverts,
  revertsWith,
  selectors,
  stops
} from './assembleContract.ts'

const chainId = 31337
const owner: Address = '0x00000000000000000000000000000000000a11ce'
const stranger: Address = '0x00000000000000000000000000000000000000b0'
const maxUint = 2n ** 256n - 1n

let anvil: AnvilNode
let proxy: FaultProxy
let rpc: EvmUpstreams
let holdings: EvmHoldings
let nextAddress = 0x1000

beforeAll(async () => {
  anvil = await startAnvil({ chainId })
  proxy = await startFaultProxy(anvil.rpcUrl)
  rpc = createEvmRpc({ chainId, rpcUrls: [proxy.url], timeoutMs: 10_000, maxAttempts: 2 })
  await rpc.request({ method: 'anvil_setBalance', params: [owner, '0x7b'] })
  // State is committed to a block, so that reads by its hash see it.
  await mine()
})

afterAll(async () => {
  rpc?.close()
  await proxy?.close()
  await anvil?.stop()
})

const mine = () => rpc.request({ method: 'evm_mine', params: [] })

async function place(code: Hex, at: Address = newAddress()): Promise<Address> {
  await rpc.request({ method: 'anvil_setCode', params: [at, code] })
  return at
}

function newAddress(): Address {
  return `0x${(nextAddress++).toString(16).padStart(40, '0')}`
}

type Answers = Partial<Record<keyof typeof selectors, Answer>>

function contract(answers: Answers, fallback?: Answer): Promise<Address> {
  const bySelector = Object.entries(answers).map(([name, answer]) => [
    selectors[name as keyof Answers],
    answer
  ])
  return place(assembleContract(Object.fromEntries(bySelector), fallback))
}

const erc20 = (at: Address): HoldingCandidate => ({ owner, contract: at, standard: 'erc20' })
const erc721 = (at: Address, tokenId = 1n): HoldingCandidate => ({
  owner,
  contract: at,
  standard: 'erc721',
  tokenId
})
const erc1155 = (at: Address, tokenId = 1n): HoldingCandidate => ({
  owner,
  contract: at,
  standard: 'erc1155',
  tokenId
})

const goodToken: Answers = {
  balanceOf: returnsWord(1_000n),
  decimals: returnsWord(6),
  name: returnsText('Good Token'),
  symbol: returnsText('GOOD')
}
const goodNft: Answers = {
  ownerOf: returnsWord(BigInt(owner)),
  tokenURI: returnsText('ipfs://one'),
  name: returnsText('Good Apes'),
  symbol: returnsText('APE')
}
const goodMulti: Answers = { balanceOf1155: returnsSecondArgument, uri: returnsText('https://a.art/{id}') }

/** Whether it reads contracts, rather than finds out what the node takes. */
const isRead = ({ method, params }: RpcMessage) =>
  method === 'eth_call' && !JSON.stringify(params).includes('c0ffee')

/** Reads at a fresh block with a reader that remembers nothing. */
async function read(candidates: readonly HoldingCandidate[], more: Partial<HoldingsRequest> = {}) {
  await mine()
  holdings = createEvmHoldings({ rpc, chainId })
  return holdings.readHoldings({ address: owner, candidates, ...more })
}

describe('honest contracts', () => {
  test('are read with their names, in order, at the latest block', async () => {
    const [tokenB, nft, multi, tokenA] = await Promise.all([
      contract(goodToken),
      contract(goodNft),
      contract(goodMulti),
      contract({ ...goodToken, balanceOf: returnsWord(maxUint), decimals: returnsWord(0) })
    ])
    const found = await read([
      erc1155(multi, maxUint),
      erc721(nft, 7n),
      erc20(tokenB),
      erc20(tokenA),
      erc721(nft, 3n),
      erc1155(multi, 5n),
      erc20(tokenB)
    ])
    const latest = (await rpc.request({
      method: 'eth_getBlockByNumber',
      params: ['latest', false]
    })) as Record<string, Hex>
    expect(found.asOf).toEqual({
      number: Number(latest.number),
      hash: latest.hash,
      timestampSeconds: Number(latest.timestamp)
    })
    expect(found.nativeWei).toBe(123n)
    expect(found.incomplete).toEqual([])
    expect(found.tokens).toEqual(
      [
        { address: tokenB, amount: 1_000n, decimals: 6, name: 'Good Token', symbol: 'GOOD' },
        { address: tokenA, amount: maxUint, decimals: 0, name: 'Good Token', symbol: 'GOOD' }
      ].sort((a, b) => (a.address < b.address ? -1 : 1))
    )
    const ape = {
      address: nft,
      standard: 'erc721',
      balance: 1n,
      tokenUri: 'ipfs://one',
      name: 'Good Apes',
      symbol: 'APE'
    }
    const thing = {
      address: multi,
      standard: 'erc1155',
      tokenUri: 'https://a.art/{id}',
      name: '',
      symbol: ''
    }
    expect(found.nfts).toEqual(
      [
        { ...ape, tokenId: 3n },
        { ...ape, tokenId: 7n },
        { ...thing, tokenId: 5n, balance: 5n },
        { ...thing, tokenId: maxUint, balance: maxUint }
      ].sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
    )
  })

  test('with nothing for the owner are left out', async () => {
    const found = await read([
      erc20(await contract({ ...goodToken, balanceOf: returnsWord(0) })),
      erc721(await contract({ ...goodNft, ownerOf: returnsWord(BigInt(stranger)) })),
      erc721(await contract({ ...goodNft, ownerOf: reverts })),
      erc1155(await contract(goodMulti), 0n)
    ])
    expect(found).toMatchObject({ nativeWei: 123n, tokens: [], nfts: [], incomplete: [] })
  })

  test('candidates may come in chunks, and those of others are not looked at', async () => {
    const token = await contract(goodToken)
    async function* chunks() {
      yield [{ ...erc20(token), owner: stranger }]
      yield [erc20(token)]
    }
    await mine()
    const found = await createEvmHoldings({ rpc, chainId }).readHoldings({
      address: owner,
      candidates: chunks()
    })
    expect(found.tokens).toHaveLength(1)
    expect((await read([{ ...erc20(token), owner: stranger }])).tokens).toEqual([])
  })

  test('hundreds of them are read in one go', async () => {
    const nft = await contract({ ...goodNft, name: returnsText('Many') })
    const ids = Array.from({ length: 1_500 }, (_, i) => erc721(nft, BigInt(i)))
    const found = await read(ids)
    expect(found.nfts.map(item => item.tokenId)).toEqual(ids.map(({ tokenId }) => tokenId))
  })
})

describe('hostile contracts never spoil an honest one:', () => {
  const unreadableBalance: [string, Answers][] = [
    ['an infinite loop', { ...goodToken, balanceOf: loops }],
    ['a loop everywhere', { balanceOf: loops, decimals: loops, name: loops, symbol: loops }],
    ['an invalid instruction', { ...goodToken, balanceOf: invalid }],
    ['a short return', { ...goodToken, balanceOf: returns('ff'.repeat(31)) }],
    ['a megabyte of return', { ...goodToken, balanceOf: returnsZeros(1_000_000) }],
    ['a long return within its gas', { ...goodToken, balanceOf: returnsZeros(300_000) }],
    ['a revert with data, though a token', { ...goodToken, balanceOf: revertsWith(100_000) }],
    ['an empty return, though a token', { ...goodToken, balanceOf: stops }]
  ]
  test.each(unreadableBalance)('ERC-20, %s: BALANCE_UNREADABLE', async (_what, answers) => {
    const [good, bad] = [await contract(goodToken), await contract(answers)]
    const found = await read([erc20(good), erc20(bad)])
    expect(found.tokens.map(token => token.address)).toEqual([good])
    expect(found.incomplete).toEqual([{ address: bad, reason: 'BALANCE_UNREADABLE' }])
  })

  const brokenDecimals: [string, Answer][] = [
    ['above 255', returnsWord(256)],
    ['enormous', returnsWord(maxUint)],
    ['missing', reverts],
    ['empty', stops],
    ['short', returns('06')],
    ['an infinite loop', loops]
  ]
  test.each(brokenDecimals)('ERC-20, decimals %s: DECIMALS_UNREADABLE', async (_what, decimals) => {
    const [good, bad] = [await contract(goodToken), await contract({ ...goodToken, decimals })]
    const found = await read([erc20(good), erc20(bad)])
    expect(found.tokens.map(token => token.address)).toEqual([good])
    expect(found.incomplete).toEqual([{ address: bad, reason: 'DECIMALS_UNREADABLE' }])
  })

  const noTokens: [string, () => Promise<Address>][] = [
    ['an address without code', async () => newAddress()],
    ['a contract that reverts', () => contract({})],
    ['a contract that reverts with data', () => contract({}, revertsWith(64))],
    ['a contract that takes every call', () => contract({}, stops)]
  ]
  test.each(noTokens)('%s that logged transfers is left out', async (_what, make) => {
    const [good, bad] = [await contract(goodToken), await make()]
    const found = await read([erc20(good), erc20(bad), erc721(bad), erc1155(bad)])
    expect(found.tokens.map(token => token.address)).toEqual([good])
    expect(found.nfts).toEqual([])
    expect(found.incomplete).toEqual([])
  })

  test('a token that lost its code is left out, though it was read before', async () => {
    const token = await contract(goodToken)
    expect((await read([erc20(token)])).tokens).toHaveLength(1)
    await place('0x', token)
    expect(await read([erc20(token)])).toMatchObject({ tokens: [], incomplete: [] })
  })

  const texts: [string, Answer, string][] = [
    ['bytes32', returnsBytes32('Maker'), 'Maker'],
    ['bytes32 without a zero byte', returnsBytes32('x'.repeat(32)), 'x'.repeat(32)],
    ['invalid UTF-8', returnsText(Buffer.from([0x41, 0xff, 0x42])), ''],
    ['bidirectional and zero-width characters', returnsText('\u202eUS\u200bDC\u2066\ufeff\u0000\n'), 'USDC'],
    ['300 code points', returnsText('🦍'.repeat(300)), '🦍'.repeat(255)],
    ['a megabyte', returnsLongText(1_000_000), ''],
    ['an infinite loop', loops, ''],
    ['a revert', reverts, ''],
    ['an empty return', stops, ''],
    ['an offset beyond the data', returns(`${'f'.repeat(64)}${'0'.repeat(64)}`), ''],
    [
      'a length beyond the data',
      returns(`${'20'.padStart(64, '0')}${'21'.padStart(64, '0')}${'41'.repeat(32)}`),
      ''
    ],
    ['nothing but white space', returnsText('  \t '), '']
  ]
  test.each(texts)('a name of %s', async (_what, name, shown) => {
    const found = await read([erc20(await contract({ ...goodToken, name }))])
    expect(found.tokens.map(token => token.name)).toEqual([shown])
    expect(found.incomplete).toEqual([])
  })

  const unreadableOwner: [string, Answer][] = [
    ['an infinite loop', loops],
    ['an invalid instruction', invalid],
    ['a short return', returns(owner.slice(2))],
    ['an address with dirt above it', returns(`01${owner.slice(2).padStart(62, '0')}`)],
    ['a megabyte of return', returnsZeros(1_000_000)]
  ]
  test.each(unreadableOwner)('ERC-721, owner is %s: OWNER_UNREADABLE', async (_what, ownerOf) => {
    const [good, bad] = [await contract(goodNft), await contract({ ...goodNft, ownerOf })]
    const found = await read([erc721(bad, 9n), erc721(good)])
    expect(found.nfts.map(nft => nft.address)).toEqual([good])
    expect(found.incomplete).toEqual([{ address: bad, tokenId: 9n, reason: 'OWNER_UNREADABLE' }])
  })

  test('ERC-165 turns silence into something missing', async () => {
    const silent721 = await contract({ supportsInterface: returnsWord(1), ownerOf: stops })
    const silent1155 = await contract({ supportsInterface: returnsWord(1) })
    const found = await read([erc721(silent721), erc1155(silent1155)])
    expect(found.incomplete).toEqual([
      { address: silent721, tokenId: 1n, reason: 'OWNER_UNREADABLE' },
      { address: silent1155, tokenId: 1n, reason: 'BALANCE_UNREADABLE' }
    ])
  })

  const uris: [string, Answer, string, boolean][] = [
    ['long but honest', returnsText('data:,'.padEnd(20_000, 'x')), 'data:,'.padEnd(20_000, 'x'), true],
    ['missing', reverts, '', true],
    ['empty', stops, '', true],
    ['an infinite loop', loops, '', false],
    ['a megabyte', returnsLongText(1_000_000), '', false],
    ['three megabytes', returnsLongText(3_000_000), '', false],
    ['malformed', returns('00'.repeat(96)), '', false]
  ]
  test.each(uris)('an NFT whose URI is %s is still listed', async (_what, tokenURI, shown, complete) => {
    const [good, bad] = [await contract(goodNft), await contract({ ...goodNft, tokenURI })]
    const found = await read([erc721(good), erc721(bad)])
    const uriShown = complete ? shown : ''
    expect(found.nfts.map(nft => [nft.address, nft.tokenUri])).toEqual([
      [good, 'ipfs://one'],
      [bad, uriShown]
    ])
    expect(found.incomplete).toEqual(
      complete ? [] : [{ address: bad, tokenId: 1n, reason: 'TOKEN_URI_UNREADABLE' }]
    )
  })

  test('forty loops beside forty honest tokens', async () => {
    const looping = await Promise.all(Array.from({ length: 40 }, () => contract({}, loops)))
    const honest = await Promise.all(Array.from({ length: 40 }, () => contract(goodToken)))
    const found = await read([...looping, ...honest].map(erc20))
    expect(found.tokens.map(token => token.address)).toEqual(honest)
    expect(found.incomplete.map(item => item.address)).toEqual(looping)
  })
})

describe('a list of contracts', () => {
  test('restricts tokens and NFTs, and shows listed tokens with zero and without any log', async () => {
    const [other, empty, unseen, nft, multi, plain] = await Promise.all([
      contract(goodToken),
      contract({ ...goodToken, balanceOf: returnsWord(0) }),
      contract(goodToken),
      contract({ ...goodNft, balanceOf: returnsWord(2), supportsInterface: returnsWord(1) }),
      contract({
        ...goodMulti,
        decimals: returnsWord(18),
        balanceOf: returnsWord(2),
        supportsInterface: returnsWord(1)
      }),
      contract({}, stops)
    ])
    const filter = [empty, unseen, nft, multi, plain, newAddress()]
    const found = await read([erc20(other), erc721(nft), erc721(other)], { filter })
    expect(found.nativeWei).toBe(123n)
    expect(found.tokens.map(token => [token.address, token.amount])).toEqual(
      [
        [empty, 0n],
        [unseen, 1_000n]
      ].sort()
    )
    expect(found.nfts.map(item => item.address)).toEqual([nft])
    expect(found.incomplete).toEqual([])
  })

  test('an empty list restricts nothing', async () => {
    expect((await read([erc20(await contract(goodToken))], { filter: [] })).tokens).toHaveLength(1)
  })

  test('a listed token that cannot be read is said to be so', async () => {
    const looping = await contract({ ...goodToken, balanceOf: loops })
    const refusing = await contract({ ...goodToken, balanceOf: reverts })
    const withoutDecimals = await contract({
      ...goodToken,
      decimals: returnsWord(256),
      balanceOf: returnsWord(0)
    })
    const found = await read([erc20(withoutDecimals)], { filter: [looping, refusing, withoutDecimals] })
    expect(found.tokens).toEqual([])
    expect(found.incomplete).toEqual([
      { address: looping, reason: 'BALANCE_UNREADABLE' },
      { address: refusing, reason: 'BALANCE_UNREADABLE' },
      { address: withoutDecimals, reason: 'DECIMALS_UNREADABLE' }
    ])
  })

  test('a collection before ERC-165 is not taken for a token', async () => {
    const kitties = await contract({ ...goodNft, balanceOf: returnsWord(3) })
    const found = await read([erc721(kitties)], { filter: [kitties] })
    expect(found).toMatchObject({ tokens: [], nfts: [{ address: kitties }], incomplete: [] })
  })
})

describe('one block', () => {
  /** Its balance is what the last transaction said: a number after four bytes. */
  const changing = () =>
    contract({ ...goodToken, balanceOf: () => '60005460005260206000f3' }, () => '60043560005500')

  async function setBalance(to: Address, amount: number): Promise<void> {
    const [from] = (await rpc.request({ method: 'eth_accounts', params: [] })) as Address[]
    const data = `0x00000000${amount.toString(16).padStart(64, '0')}`
    await rpc.request({ method: 'eth_sendTransaction', params: [{ from, to, data, gas: '0x186a0' }] })
    await mine()
  }

  const latestBlock = async () => {
    const { asOf } = await createEvmHoldings({ rpc, chainId }).readHoldings({
      address: owner,
      candidates: []
    })
    return asOf
  }

  test('is the wanted one, even when the chain has moved on', async () => {
    const token = await changing()
    await setBalance(token, 5)
    const at = await latestBlock()
    await setBalance(token, 9)
    const request = { address: owner, candidates: [erc20(token)] }
    const old = await createEvmHoldings({ rpc, chainId }).readHoldings({ ...request, at })
    expect(old).toMatchObject({ asOf: at, tokens: [{ amount: 5n }] })
    expect((await createEvmHoldings({ rpc, chainId }).readHoldings(request)).tokens[0]?.amount).toBe(9n)
  })

  test('is the latest one when none is wanted', async () => {
    await mine()
    const latest = await latestBlock()
    const found = await createEvmHoldings({ rpc, chainId }).readHoldings({ address: owner, candidates: [] })
    expect(found.asOf).toEqual(latest)
  })

  test('is never another one than the wanted one, of which alone the candidates know', async () => {
    await mine()
    const at = { ...(await latestBlock()), hash: `0x${'ab'.repeat(32)}` as Hex }
    const request = { address: owner, candidates: [], at }
    await expect(createEvmHoldings({ rpc, chainId }).readHoldings(request)).rejects.toThrow(BlockLostError)
  })

  test('every read names it by hash', async () => {
    const token = await contract(goodToken)
    await mine()
    proxy.calls.length = 0
    const found = await createEvmHoldings({ rpc, chainId }).readHoldings({
      address: owner,
      candidates: [erc20(token)]
    })
    const reads = proxy.calls.filter(isRead)
    expect(reads.length).toBeGreaterThan(2)
    for (const { params } of reads) {
      expect(params[1]).toEqual({ blockHash: found.asOf.hash })
      expect(Number((params[0] as { gas: string }).gas)).toBeGreaterThan(0)
    }
  })

  /** Plays a node that refuses, or does not look at, EIP-1898 parameters. */
  const isByHash = (params: readonly unknown[]) =>
    params.some(param => typeof param === 'object' && param !== null && 'blockHash' in param)

  /** Plays nodes that refuse hashes, or take the latest block for whatever block a hash names. */
  const withoutHashes: Readonly<Record<string, Rule>> = {
    refuses: ({ params }) =>
      isByHash(params) ? { error: { code: -32602, message: 'invalid block tag' } } : undefined,
    async ignores({ method, params }) {
      if (!isByHash(params)) return undefined
      const atLatest = params.map(param => (isByHash([param]) ? 'latest' : param))
      const [outcome] = await rpc.batch([{ method, params: atLatest }])
      if (outcome === undefined || outcome.ok) return { result: outcome?.value }
      const { rpcCode: code, message, rpcData: data } = outcome.error as NodeRpcError
      return { error: { code, message, data } }
    }
  }

  test.each(['refuses', 'ignores'])(
    'is read by number and checked by hash where the node %s hashes',
    async how => {
      const token = await contract(goodToken)
      await mine()
      const node = await startNodeProxy(anvil.rpcUrl)
      const toNode = createEvmRpc({ chainId, rpcUrls: [node.url], timeoutMs: 10_000 })
      node.obey(withoutHashes[how])
      try {
        const reader = createEvmHoldings({ rpc: toNode, chainId })
        const found = await reader.readHoldings({ address: owner, candidates: [erc20(token)] })
        expect(found.tokens).toHaveLength(1)
        const number = `0x${found.asOf.number.toString(16)}`
        const reads = node.calls.filter(isRead)
        expect(reads.length).toBeGreaterThan(0)
        expect(new Set(reads.map(call => call.params[1]))).toEqual(new Set([number]))
        expect(node.calls.at(-1)).toMatchObject({ method: 'eth_getBlockByNumber', params: [number, false] })
      } finally {
        toNode.close()
        await node.close()
      }
    }
  )

  test('is another one when a reorg replaces it between two reads', async () => {
    const token = await contract(goodToken)
    await mine()
    let wasRead = false
    let lookedAgain = 0
    // By number only, and the first look after the contract was read finds another hash.
    proxy.setFault((call, result) => {
      if (isByHash(call.params)) throw new Refusal(-32602)
      if (isRead(call)) wasRead = true
      if (call.method !== 'eth_getBlockByNumber' || call.params[0] === 'latest' || !wasRead) return result
      return lookedAgain++ === 0 ? { ...(result as object), hash: `0x${'cd'.repeat(32)}` } : result
    })
    try {
      const found = await createEvmHoldings({ rpc, chainId }).readHoldings({
        address: owner,
        candidates: [erc20(token)]
      })
      expect(found.tokens).toHaveLength(1)
      expect(proxy.calls.filter(call => call.params[0] === 'latest').length).toBeGreaterThanOrEqual(2)
      expect(lookedAgain).toBeGreaterThan(1)
    } finally {
      proxy.setFault()
    }
  })

  test('an answer is never made of a node that lost the block', async () => {
    const token = await contract(goodToken)
    await mine()
    proxy.setFault((call, result) => {
      const isCanary = call.method === 'eth_getBalance' && call.params[0] !== owner
      if (isCanary || call.method === 'eth_call') throw new Refusal(-32000, 'header not found')
      return result
    })
    try {
      const reading = createEvmHoldings({ rpc, chainId }).readHoldings({
        address: owner,
        candidates: [erc20(token)]
      })
      await expect(reading).rejects.toMatchObject({ name: 'NodeUnavailableError', retryable: true })
    } finally {
      proxy.setFault()
    }
  })
})

describe('trouble with the node fails the whole call', () => {
  test('a node that is down', async () => {
    const token = await contract(goodToken)
    await mine()
    proxy.setDown(true)
    try {
      const reading = createEvmHoldings({ rpc, chainId }).readHoldings({
        address: owner,
        candidates: [erc20(token)]
      })
      await expect(reading).rejects.toMatchObject({ name: 'NodeUnavailableError' })
    } finally {
      proxy.setDown(false)
    }
  })

  test('a deadline that has passed', async () => {
    const reading = createEvmHoldings({ rpc, chainId }).readHoldings({
      address: owner,
      candidates: [],
      deadlineMs: 1
    })
    await expect(reading).rejects.toMatchObject({ name: 'NodeUnavailableError' })
  })

  test('an abort', async () => {
    const signal = AbortSignal.abort(new Error('gone'))
    await expect(
      createEvmHoldings({ rpc, chainId }).readHoldings({ address: owner, candidates: [], signal })
    ).rejects.toThrow('gone')
  })
})

test('an honest token that suffered from its batch is asked again', async () => {
  const token = await contract(goodToken)
  await mine()
  let refusals = 1
  proxy.setFault((call, result) => {
    if (isRead(call) && refusals-- > 0) throw new Refusal(-32003, 'response too large')
    return result
  })
  try {
    const found = await createEvmHoldings({ rpc, chainId }).readHoldings({
      address: owner,
      candidates: [erc20(token)]
    })
    expect(found).toMatchObject({ tokens: [{ amount: 1_000n }], incomplete: [] })
    expect(refusals).toBeLessThan(0)
  } finally {
    proxy.setFault()
  }
})

test('a URI that costs much gas is read in a second attempt', async () => {
  // Counts a loop down from 150,000 and then answers: beyond the first attempt's gas, within the second's.
  const slow: Answer = start => {
    const loop = (start + 4).toString(16).padStart(4, '0')
    const head = `62${(150_000).toString(16).padStart(6, '0')}5b6001900380${`61${loop}`}57`
    return head + returnsText('data:,drawn')(start + head.length / 2)
  }
  const found = await read([erc721(await contract({ ...goodNft, tokenURI: slow }))])
  expect(found).toMatchObject({ nfts: [{ tokenUri: 'data:,drawn' }], incomplete: [] })
})

test('facts of a contract are asked for once per branch, balances every time', async () => {
  const token = await contract(goodToken)
  await mine()
  const reader = createEvmHoldings({ rpc, chainId, strategies: ['plain'] })
  const request = { address: owner, candidates: [erc20(token)], branch: 1 }
  const askedAbout = async (branch: number) => {
    proxy.calls.length = 0
    await reader.readHoldings({ ...request, branch })
    const asked = proxy.calls.filter(isRead)
    return asked.map(call => (call.params[0] as { data: string }).data.slice(2, 10))
  }
  await reader.readHoldings(request)
  expect(await askedAbout(1)).toEqual([selectors.balanceOf])
  // A reorg may put another contract at the same address; a slow call from before it must not bring the old one back.
  const { balanceOf, decimals, name, symbol } = selectors
  expect(await askedAbout(2)).toEqual([balanceOf, decimals, name, symbol])
  expect(await askedAbout(1)).toEqual([balanceOf, decimals, name, symbol])
  expect(await askedAbout(2)).toEqual([balanceOf])
})
