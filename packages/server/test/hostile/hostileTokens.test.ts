import { startAnvil } from '@chain-data/devnet'
import { type EvmHoldings, limits } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lookAlike } from '../../../devnet/src/evm/hostile/catalogue/falseLogs.ts'
import {
  createHostileStage,
  type PlayedToken,
  playHostileTokens
} from '../../../devnet/src/evm/hostile/createHostileStage.ts'
import type { HostileSetting, HostileToken } from '../../../devnet/src/evm/hostile/HostileToken.ts'
import { honestTokens } from '../../../devnet/src/evm/hostile/honestTokens.ts'
import { hostileTokens } from '../../../devnet/src/evm/hostile/hostileTokens.ts'
import { createJsonRpc, type JsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import { type ChaosNode, chaosNodes } from '../chaos/chaosNodes.ts'
import { outcomeIn } from './outcomeIn.ts'
import { type HostileService, startHostileService } from './startHostileService.ts'

test('every token of the catalogue has a key of its own', () => {
  const keys = [...hostileTokens, ...honestTokens].map(({ key }) => key)
  expect(new Set(keys).size).toBe(keys.length)
})

const { tokenAddresses: mostAddresses } = limits
const zeroAddress = `0x${'00'.repeat(20)}`
const precompiles = Array.from({ length: 18 }, (_, i) => `0x${(i + 1).toString(16).padStart(40, '0')}`)
const noContracts = [...precompiles, zeroAddress, `0x${'c0de'.repeat(10)}`]

/**
 * Hardhat keeps a trace of each step: on a busy machine the gas that a token URI may cost takes it longer than an answer
 * may, and it does nothing else meanwhile.
 */
const forFastNodes: readonly string[] = ['uri-loops-slowly']

describe.each(chaosNodes)('over $name', ({ name, start }) => {
  const tokens = hostileTokens.filter(({ key }) => name === 'anvil' || !forFastNodes.includes(key))
  let node: ChaosNode
  let rpc: JsonRpc
  let service: HostileService
  let holder: string
  let honest: readonly PlayedToken[]
  let hostile: readonly PlayedToken[]
  let whole: EvmHoldings
  /** Together they name every hostile contract, and each all honest ones. */
  let lists: readonly { readonly named: ReadonlySet<string>; readonly answer: EvmHoldings }[]

  beforeAll(async () => {
    node = await start()
    rpc = createJsonRpc(node.rpcUrl)
    const [deployer = '', first = '', stranger = ''] = (await rpc('eth_accounts')) as string[]
    const stage = createHostileStage(rpc, { deployer, holder: first, stranger })
    honest = await playHostileTokens(stage, honestTokens)
    hostile = await playHostileTokens(stage, tokens)
    holder = stage.holder
    const head = (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
    service = await startHostileService(node)
    await service.reach(head.hash)
    whole = await service.holdings(holder)
    lists = await askInLists(holder)
  })

  afterAll(async () => {
    await service?.close()
    await node?.stop()
  })

  async function askInLists(address: string) {
    const beside = honest.map(played => played.address)
    const answers: (typeof lists)[number][] = []
    for (let at = 0; at < hostile.length; at += mostAddresses - beside.length) {
      const named = hostile.slice(at, at + mostAddresses - beside.length).map(played => played.address)
      const answer = await service.holdings(address, [...named, ...beside])
      answers.push({ named: new Set(named), answer })
    }
    return answers
  }

  function settingOf(answer: EvmHoldings, listed: boolean): HostileSetting {
    const blockNumber = BigInt(answer.asOf?.blockNumber ?? -1)
    return { listed, blockNumber, selfdestructRemovesCode: false }
  }

  for (const { key, about, outcomes } of tokens) {
    test(`${key}: ${about}`, () => checkHostile(key, outcomes))
  }

  async function checkHostile(key: string, outcomes: HostileToken['outcomes']): Promise<void> {
    const { address } = hostile.find(({ token }) => token.key === key) ?? { address: '' }
    const list = lists.find(({ named }) => named.has(address))
    if (list === undefined) throw new Error(`${key} was in no list`)
    await expectOutcome(whole, false, address, outcomes)
    await expectOutcome(list.answer, true, address, outcomes)
  }

  /** A busy node may take longer for a call than an answer waits for it: what was not read is asked for again, a few times. */
  async function expectOutcome(
    answer: EvmHoldings,
    listed: boolean,
    address: string,
    outcomes: HostileToken['outcomes'],
    triesLeft = 5
  ): Promise<void> {
    const outcome = outcomeIn(answer, address)
    try {
      expectOneOf(outcome, outcomes(settingOf(answer, listed)))
    } catch (difference) {
      if (outcome.incomplete.length === 0 || triesLeft === 0) throw difference
      const again = await service.holdings(holder, listed ? [address] : undefined)
      await expectOutcome(again, listed, address, outcomes, triesLeft - 1)
    }
  }

  test.each(honestTokens)('beside all of them, complete and exact: $key', ({ key, outcomes }) => {
    const { address } = honest.find(({ token }) => token.key === key) ?? { address: '' }
    expectOneOf(outcomeIn(whole, address), outcomes(settingOf(whole, false)))
    for (const { answer } of lists) {
      expectOneOf(outcomeIn(answer, address), outcomes(settingOf(answer, true)))
    }
  })

  test('an answer speaks of nothing but what the holder was sent, and of its native currency at that block', async () => {
    const known = new Set([...honest, ...hostile].map(({ address }) => address))
    for (const answer of [whole, ...lists.map(list => list.answer)]) {
      const spoken = [...answer.tokens, ...answer.nfts, ...(answer.incomplete ?? [])]
      expect(spoken.filter(({ address }) => !known.has(address))).toEqual([])
      const at = `0x${(answer.asOf?.blockNumber ?? 0).toString(16)}`
      expect(answer.native).toBe(BigInt((await rpc('eth_getBalance', holder, at)) as string).toString())
    }
  })

  test('an account that was never sent anything has nothing, until it names a token', async () => {
    const newcomer = `0x${'77'.repeat(20)}`
    expect(await service.holdings(newcomer)).toMatchObject({ native: '0', tokens: [], nfts: [] })
    for (const { answer } of await askInLists(newcomer)) {
      const addressOf = (key: string) => honest.find(({ token }) => token.key === key)?.address
      const amounts = answer.tokens.filter(({ address }) => honest.some(played => played.address === address))
      expect(amounts.map(({ address, amount }) => [address, amount]).sort()).toEqual(
        [addressOf('erc20'), addressOf('weth')].map(address => [address, '0']).sort()
      )
      expect(answer.nfts).toEqual([])
      // Nothing but its word says what it is, and its word is that it is a collection.
      const pretender = hostile.find(({ token }) => token.key === 'interface-all')?.address
      expect(answer.tokens.map(({ address }) => address)).not.toContain(pretender)
    }
  })

  test('the look-alike of an address poisoning holds nothing', async () => {
    expect(await service.holdings(lookAlike(holder))).toMatchObject({ native: '0', tokens: [], nfts: [] })
  })

  test('nothing is kept by the zero address, to which tokens were burnt', async () => {
    const answer = await service.holdings(zeroAddress)
    expect([...answer.tokens, ...answer.nfts, ...(answer.incomplete ?? [])]).toEqual([])
  })

  test('what is no contract is named without harm: precompiled functions, accounts, the zero address', async () => {
    const beside = honest.map(({ address }) => address)
    const answer = await service.holdings(holder, [...noContracts, holder, ...beside])
    for (const { token, address } of honest) {
      expectOneOf(outcomeIn(answer, address), token.outcomes(settingOf(answer, true)))
    }
    const spoken = [...answer.tokens, ...answer.nfts, ...(answer.incomplete ?? [])]
    expect(spoken.filter(({ address }) => !beside.includes(address))).toEqual([])
  })
})

test('on a chain before Cancun a token that destroyed itself is gone', async () => {
  await using cleanUps = new AsyncDisposableStack()
  const node = await startAnvil({ mining: 'auto', hardfork: 'shanghai' })
  cleanUps.defer(() => node.stop())
  const rpc = createJsonRpc(node.rpcUrl)
  const [deployer = '', holder = '', stranger = ''] = (await rpc('eth_accounts')) as string[]
  const destroyed = hostileTokens.filter(({ key }) => key === 'destroyed')
  const [played] = await playHostileTokens(createHostileStage(rpc, { deployer, holder, stranger }), destroyed)
  const head = (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string; number: string }
  const service = await startHostileService({
    name: 'anvil',
    rpcUrl: node.rpcUrl,
    config: { finality: 'auto' },
    stop: node.stop
  })
  cleanUps.defer(() => service.close())
  await service.reach(head.hash)
  const address = played?.address ?? ''
  for (const listed of [false, true]) {
    const setting = { listed, blockNumber: BigInt(head.number), selfdestructRemovesCode: true }
    const answer = await service.holdings(holder, listed ? [address] : undefined)
    for (const { outcomes } of destroyed) expectOneOf(outcomeIn(answer, address), outcomes(setting))
  }
})

/** Compared with the only one directly, for a readable difference. */
function expectOneOf<T>(actual: T, allowed: readonly T[]): void {
  if (allowed.length === 1) expect(actual).toEqual(allowed[0])
  else expect(allowed).toContainEqual(actual)
}
