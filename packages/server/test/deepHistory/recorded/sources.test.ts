import type { TransactionRecord } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allNodeChecks } from '../../../src/features/all.ts'
import { checkEvmNode } from '../../../src/server/check/checkEvmNode.ts'
import { parseConfig } from '../../../src/server/config/config.ts'
import { engines } from '../../support/testStores.ts'
import { type DeepService, startDeepService } from '../startDeepService.ts'
import type { StateWorld } from './buildStateWorld.ts'
import { openStateWorld } from './openStateWorld.ts'
import { type RecordedNode, startRecordedNode, stateMethods } from './startRecordedNode.ts'

const history = 'svc_getTransactionsByAddress'
const plain = { hasOts: false, traceFilter: false } as const

let world: StateWorld
let node: RecordedNode
/** An index of the whole chain, which says what is right. */
let full: DeepService
const ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  world = await openStateWorld(2_000)
  node = await startRecordedNode(world.chain)
  ends.push(node.close)
  // Of another node, so that its calls are not counted.
  const other = await startRecordedNode(world.chain)
  ends.push(other.close)
  const chain = { startBlock: 0, deepHistory: 'off' }
  full = await open(await newStore(), chain, { nodeUrl: other.url })
})
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function newStore(): Promise<string> {
  const store = await engines[0].create()
  ends.push(store.remove)
  return store.url
}

async function open(store: string, chain = {}, options = {}): Promise<DeepService> {
  const service = await startDeepService({
    ...{ nodeUrl: node.url, store, ...options },
    chain: { verify: 'basic', startBlock: 'latest', deepHistory: 'node', ...chain }
  })
  let isOpen = true
  const close = async () => {
    if (isOpen) await service.close()
    isOpen = false
  }
  ends.push(close)
  return { ...service, close }
}

const personOf = (kind: string) => world.people[kind] ?? ''
const coverageOf = async (service: DeepService, account: string) =>
  (await service.ask(history, [account])).coverage ?? ''
const searches = () =>
  node.calls.filter(method => method === 'ots_searchTransactionsBefore' || stateMethods.includes(method))

describe('history that was found from state', () => {
  it('is read again, and whole, once a node lists the transactions of an address', async () => {
    const account = personOf('zeroValue')
    const store = await newStore()
    node.setTraits(plain)
    const first = await open(store)
    const found = await first.history(account)
    expect(await coverageOf(first, account)).toMatch(/;deep=state;lacks=zero-value-receipts$/)
    await first.close()
    node.setTraits({})
    const second = await open(store)
    const whole = await second.history(account)
    expect(whole).toEqual(await full.history(account))
    expect(whole.length).toBeGreaterThan(found.length)
    expect(await coverageOf(second, account)).toMatch(/;deep=node$/)
  })

  it('is kept where trace_filter takes too few blocks to do better, also after a restart', async () => {
    const account = personOf('quiet')
    const store = await newStore()
    node.setTraits({ hasOts: false, traceFilter: 10 })
    const first = await open(store)
    const found = await first.history(account)
    await first.close()
    const second = await open(store)
    expect((await second.ask('svc_getSyncStatus', [])).result).toMatchObject({ deepHistory: 'state' })
    node.reset()
    expect(await second.history(account)).toEqual(found)
    expect(await coverageOf(second, account)).toMatch(/;deep=state;lacks=zero-value-receipts$/)
    expect(searches()).toEqual([])
  })
})

describe('authorizations that others sent', () => {
  it('make what a node lists incomplete where it has no old states, which strictness refuses', async () => {
    const account = personOf('delegated')
    node.setTraits({ keptStates: 32 })
    const [lenient, strict] = [
      await open(await newStore()),
      await open(await newStore(), { deepHistory: 'strict' })
    ]
    const whole = await full.history(account)
    const found = await lenient.history(account)
    const isCarrier = ({ type, from, to }: TransactionRecord) =>
      type === 4 && ![from, to].some(party => party?.toLowerCase() === account)
    expect(whole.filter(isCarrier)).toHaveLength(4)
    expect(found).toEqual(whole.filter(record => !isCarrier(record)))
    // They are known from here on.
    expect(await coverageOf(lenient, account)).toContain(`;operations=${lenient.indexedFrom()};deep=node`)
    const { error } = await strict.ask(history, [account])
    expect(error?.data).toMatchObject({
      reason: 'HISTORY_UNPROVABLE',
      extraMessage: expect.stringContaining('authorizations (EIP-7702)')
    })
    node.setTraits({})
    const sound = await open(await newStore(), { deepHistory: 'strict' })
    expect(await sound.history(account)).toEqual(whole)
  })
})

describe('one request', () => {
  const maxCalls = 100

  it.each([
    ['ots', {}, 'busy', 'on'],
    ['trace_filter', { hasOts: false }, 'delegated', 'on'],
    ['state', plain, 'mixed', 'off'],
    ['state', { ...plain, hasSenderAndNonce: true }, 'busy', 'off']
  ] as const)(
    'makes no more calls than the host allows, by %s, and the next goes on',
    async (way, traits, kind, traces) => {
      const account = personOf(kind)
      node.setTraits(traits)
      const service = await open(await newStore(), { traces }, { deepHistory: { maxCalls } })
      expect((await service.ask('svc_getSyncStatus', [])).result).toMatchObject({ deepHistory: way })
      const reached: number[] = []
      const whole = await full.history(account)
      node.reset()
      for (let asked = 1; ; asked++) {
        const { result, error } = await service.ask<TransactionRecord[]>(history, [account])
        expect(node.calls.length).toBeLessThanOrEqual(asked * maxCalls)
        if (result !== undefined) {
          expect(result.map(({ hash }) => hash)).toEqual(whole.map(({ hash }) => hash))
          break
        }
        expect(error?.data).toMatchObject({ reason: 'STILL_READING' })
        reached.push(Object(error?.data.progress).reachedBlock)
        expect(reached.length).toBeLessThan(100)
      }
      expect(reached.length).toBeGreaterThan(1)
      expect([...reached].sort((a, b) => b - a)).toEqual(reached)
    }
  )
})

describe('chain-data check', () => {
  it.each([
    ['ots', {}, /are listed by ots_searchTransactionsBefore$/],
    ['ots', { keptStates: 32 }, /listed by ots_.*; authorizations \(EIP-7702\) that others sent are not/],
    ['trace_filter', { hasOts: false }, /are listed by trace_filter$/],
    [
      'state',
      { hasOts: false, traceFilter: 10 },
      /found from old states: .*trace_filter takes 10 blocks at once/
    ],
    ['state', plain, /found from old states: .* log nothing$/],
    [
      'none',
      { ...plain, keptStates: 32 },
      /does not list the transactions of an address, and has no old states$/
    ]
  ] as const)(
    'says of a node what the server will answer older history by: %s (%o)',
    async (way, traits, found) => {
      node.setTraits(traits)
      const chain = { chainId: 31337, rpcUrls: [node.url], traces: 'on', verify: 'basic' } as const
      const [parsed] = parseConfig({ chains: { evm: [chain] } }, { mayLackProjects: true }).chains.evm
      if (parsed === undefined) throw new Error('one chain is configured')
      const { findings, olderHistory } = await checkEvmNode(parsed, node.url, 30_000, allNodeChecks)
      expect(olderHistory).toBe(way)
      expect(findings.find(({ check }) => check === 'addresses')?.found).toMatch(found)
    }
  )
})
