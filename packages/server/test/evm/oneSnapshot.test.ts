import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { Address, HoldingCandidate } from '@chain-data/index'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEvmHoldings, type HoldingsRequest } from '../../src/evm/holdings/holdings.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { type NodeProxy, type ProxiedCall, type Rule, startNodeProxy } from '../upstreams/startNodeProxy.ts'
import {
  assembleContract,
  returnsSecondArgument,
  returnsText,
  returnsWord,
  selectors
} from './assembleContract.ts'

const owner: Address = '0x00000000000000000000000000000000000a11ce'
const token: Address = '0x0000000000000000000000000000000000001001'
const nft: Address = '0x0000000000000000000000000000000000001002'
const multi: Address = '0x0000000000000000000000000000000000001003'
const candidates: readonly HoldingCandidate[] = [
  { owner, contract: token, standard: 'erc20' },
  { owner, contract: nft, standard: 'erc721', tokenId: 1n },
  { owner, contract: multi, standard: 'erc1155', tokenId: 4n }
]

/** Two nodes that disagree about everything: what is read can be told apart by whom it came from. */
interface World {
  readonly anvil: AnvilNode
  readonly direct: EvmUpstreams
  readonly mark: number
}
const worlds: World[] = []
let proxies: NodeProxy[] = []
let rpc: EvmUpstreams

async function createWorld(mark: number): Promise<World> {
  const anvil = await startAnvil()
  const direct = createEvmRpc({ chainId: 31337, rpcUrls: [anvil.rpcUrl] })
  const codes: readonly [Address, Record<string, ReturnType<typeof returnsText>>][] = [
    [
      token,
      {
        [selectors.balanceOf]: returnsWord(mark),
        [selectors.decimals]: returnsWord(mark),
        [selectors.name]: returnsText(`name ${mark}`)
      }
    ],
    [
      nft,
      {
        [selectors.ownerOf]: returnsWord(BigInt(owner)),
        [selectors.tokenURI]: returnsText(`uri ${mark}`)
      }
    ],
    [multi, { [selectors.balanceOf1155]: returnsSecondArgument, [selectors.uri]: returnsText(`uri ${mark}`) }]
  ]
  for (const [at, answers] of codes)
    await direct.request({ method: 'anvil_setCode', params: [at, assembleContract(answers)] })
  await direct.request({ method: 'anvil_setBalance', params: [owner, `0x${mark.toString(16)}`] })
  for (let i = 0; i < mark; i++) await direct.request({ method: 'evm_mine', params: [] })
  return { anvil, direct, mark }
}

beforeAll(async () => {
  worlds.push(await createWorld(5), await createWorld(9))
})
afterAll(async () => {
  for (const { anvil, direct } of worlds) {
    direct.close()
    await anvil.stop()
  }
})
beforeEach(async () => {
  proxies = await Promise.all(worlds.map(({ anvil }) => startNodeProxy(anvil.rpcUrl)))
  rpc = poolOf(...proxies)
})
afterEach(async () => {
  rpc.close()
  for (const proxy of proxies) await proxy.close()
})

const poolOf = (...nodes: readonly NodeProxy[]) =>
  createEvmRpc({ chainId: 31337, rpcUrls: nodes.map(({ url }) => url), timeoutMs: 10_000 })
const read = (on: EvmUpstreams = rpc, more: Partial<HoldingsRequest> = {}) =>
  createEvmHoldings({ rpc: on, chainId: 31337, exchangeTimeoutMs: 500 }).readHoldings({
    address: owner,
    candidates,
    ...more
  })
const latestOf = async ({ direct }: World) =>
  (await direct.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as { hash: string }

/** All of the answer comes from this world. */
async function expectAllFrom(world: World, found: Awaited<ReturnType<typeof read>>): Promise<void> {
  const { mark } = world
  expect(found.asOf.hash).toBe((await latestOf(world)).hash)
  expect(found.nativeWei).toBe(BigInt(mark))
  expect(found.tokens).toMatchObject([{ amount: BigInt(mark), decimals: mark, name: `name ${mark}` }])
  expect(found.nfts.map(({ tokenUri }) => tokenUri)).toEqual([`uri ${mark}`, `uri ${mark}`])
  expect(found.incomplete).toEqual([])
}

const asksFor = (selector: string) => (call: ProxiedCall) =>
  call.method === 'eth_call' && JSON.stringify(call.params).includes(selector)
const asksUri = asksFor(selectors.tokenURI)
const notFound = { error: { code: -32000, message: 'header not found' } }

describe('one answer comes from one node:', () => {
  test('the first one, while it is well', async () => {
    await expectAllFrom(worlds[0]!, await read())
    expect(proxies[1]!.asked()).toEqual([])
  })

  /** Everything but the last reads has been answered when the first node fails. */
  let isFailing = false
  beforeEach(() => {
    isFailing = false
  })
  const from = (answer: Exclude<Awaited<ReturnType<Rule>>, undefined>): Rule => {
    return call => {
      isFailing ||= asksUri(call)
      return isFailing ? answer : undefined
    }
  }
  const failures: readonly [string, Rule][] = [
    ['loses the block', from(notFound)],
    ['has pruned the state', from({ error: { code: -32000, message: 'missing trie node 12ab (path )' } })],
    ['fails', from({ status: 502 })],
    ['asks to be left alone', from({ status: 429, headers: { 'retry-after': '60' } })],
    [
      'answers nonsense',
      call =>
        asksUri(call)
          ? { result: `0x${Buffer.from('chain-data multicall result:').toString('hex')}ffffffff` }
          : undefined
    ]
  ]
  test.each(failures)('the second one, all of it, when the first %s in the middle', async (_what, rule) => {
    proxies[0]!.obey(rule)
    await expectAllFrom(worlds[1]!, await read())
    expect(proxies[0]!.asked('eth_call').some(asksUri)).toBe(true)
  })

  test('the second one when the first falls silent in the middle', async () => {
    let release = () => {}
    const held = new Promise<undefined>(resolve => {
      release = () => resolve(undefined)
    })
    proxies[0]!.obey(call => {
      isFailing ||= asksUri(call)
      return isFailing ? held : undefined
    })
    await expectAllFrom(worlds[1]!, await read())
    release()
  })

  test('the one that has the wanted block, when the first lags behind it', async () => {
    const { hash } = await latestOf(worlds[1]!)
    const { number, timestamp } = (await worlds[1]!.direct.request({
      method: 'eth_getBlockByHash',
      params: [hash, false]
    })) as Record<string, string>
    const at = { number: Number(number), hash: hash as `0x${string}`, timestampSeconds: Number(timestamp) }
    await expectAllFrom(worlds[1]!, await read(rpc, { at }))
  })

  test('nobody: an error that can be tried again, when all of them lose the block', async () => {
    for (const proxy of proxies) {
      proxy.obey(call =>
        asksUri(call) || (call.method === 'eth_getBalance' && call.params[0] !== owner) ? notFound : undefined
      )
    }
    await expect(read()).rejects.toMatchObject({ name: 'NodeUnavailableError', retryable: true })
  })
})

describe('a reorg in the middle', () => {
  test.each(['by hash', 'by number'])(
    'begins the answer anew at a block of the chain as it is, %s',
    async how => {
      const { anvil, direct, mark } = worlds[0]!
      let reorgs = 0
      const proxy = await startNodeProxy(anvil.rpcUrl)
      proxy.obey(async call => {
        if (how === 'by number' && JSON.stringify(call.params).includes('blockHash')) return notFound
        if (!asksUri(call) || reorgs++ > 0) return undefined
        await direct.request({ method: 'anvil_setBalance', params: [owner, '0x77'] })
        await direct.request({ method: 'anvil_reorg', params: [2, []] })
        return undefined
      })
      const alone = poolOf(proxy)
      try {
        const found = await read(alone)
        expect(reorgs).toBeGreaterThan(1)
        expect(found.asOf.hash).toBe((await latestOf(worlds[0]!)).hash)
        const balance = await direct.request({ method: 'eth_getBalance', params: [owner, 'latest'] })
        expect(found.nativeWei).toBe(BigInt(String(balance)))
      } finally {
        alone.close()
        await proxy.close()
        await direct.request({ method: 'anvil_setBalance', params: [owner, `0x${mark.toString(16)}`] })
        await direct.request({ method: 'evm_mine', params: [] })
      }
    }
  )

  test('every time ends with an error', async () => {
    const { anvil, direct } = worlds[0]!
    let attempts = 0
    const proxy = await startNodeProxy(anvil.rpcUrl)
    proxy.obey(async call => {
      if (call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest') attempts++
      if (asksUri(call)) await direct.request({ method: 'anvil_reorg', params: [2, []] })
      return undefined
    })
    const alone = poolOf(proxy)
    try {
      await expect(read(alone)).rejects.toMatchObject({ name: 'NodeUnavailableError', retryable: true })
      expect(attempts).toBe(3)
    } finally {
      alone.close()
      await proxy.close()
    }
  })
})
