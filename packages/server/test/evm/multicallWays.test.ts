import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { Address } from '@chain-data/index'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import type { ContractCall } from '../../src/evm/state/contractCalls.ts'
import type { MulticallOptions } from '../../src/evm/state/multicall.ts'
import type { EvmNode, NodeCall } from '../../src/nodes/evm/nodeCall.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import {
  type NodeProxy,
  type ProxiedCall,
  type Rule,
  type RuleAnswer,
  startNodeProxy
} from '../upstreams/startNodeProxy.ts'
import { afterRounds, assembleContract, loops, returnsWord, returnsZeros } from './assembleContract.ts'
import { callTo, createPlacer, resultsOf, returnedWord, useMulticall } from './useMulticall.ts'

let anvil: AnvilNode
let direct: EvmUpstreams
let proxy: NodeProxy
let rpc: EvmUpstreams
let aheadMs = 0
let word: Address
let burning: Address
let thirsty: Address
let long: Address
let slow: Address

beforeAll(async () => {
  anvil = await startAnvil()
  direct = createEvmRpc({ chainId: 31337, rpcUrls: [anvil.rpcUrl] })
  const place = createPlacer(direct, 'anvil_setCode')
  word = await place(assembleContract({}, returnsWord(7)))
  burning = await place(assembleContract({}, loops))
  thirsty = await place(assembleContract({}, afterRounds(18_400, returnsWord(9))))
  long = await place(assembleContract({}, returnsZeros(50_000)))
  slow = await place(assembleContract({}, returnsWord(8)))
  await direct.request({ method: 'evm_mine', params: [] })
})
afterAll(async () => {
  direct?.close()
  await anvil?.stop()
})

/** A node that obeys the rule, and a pool that knows nothing of it yet. Both end with the test. */
async function startNode({ onTestFinished }: TestContext, rule?: Rule, timeoutMs = 10_000) {
  const started = await startNodeProxy(anvil.rpcUrl)
  started.obey(rule)
  const clock = { now: () => Date.now() + aheadMs }
  const pool = createEvmRpc({ chainId: 31337, rpcUrls: [started.url], timeoutMs, clock })
  onTestFinished(async () => {
    pool.close()
    await started.close()
  })
  return { proxy: started, rpc: pool }
}

/** Starts the node of a test that runs alone. */
async function nodeWith(context: TestContext, rule?: Rule, timeoutMs?: number): Promise<void> {
  aheadMs = 0
  const started = await startNode(context, rule, timeoutMs)
  proxy = started.proxy
  rpc = started.rpc
}

const read = (
  calls: readonly ContractCall[],
  options: Omit<MulticallOptions, 'node' | 'block'> = {},
  from = rpc
) => useMulticall(from, options, multicall => resultsOf(multicall, calls))

/** What the node says to another call. */
async function insteadOf(call: ProxiedCall, params: readonly unknown[]): Promise<RuleAnswer> {
  const response = await fetch(anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, params })
  })
  const { result, error } = (await response.json()) as Record<string, unknown>
  return (error === undefined ? { result } : { error }) as RuleAnswer
}

const refusal = { error: { code: -32602, message: 'too many arguments, want at most 2' } }
const overrides = ({ method, params }: ProxiedCall) => method === 'eth_call' && params.length === 3
const isInitcode = ({ method, params }: ProxiedCall) =>
  method === 'eth_call' && (params[0] as { to?: string }).to === undefined
const isProbe = ({ params }: ProxiedCall) => /c0ffee|5b600056/.test(JSON.stringify(params))
const reads = (through = proxy) => through.calls.filter(call => call.method === 'eth_call' && !isProbe(call))
/** Which ways the reads took. */
function waysTaken(): readonly string[] {
  const wayOf = (call: ProxiedCall) =>
    overrides(call) ? 'stateOverride' : isInitcode(call) ? 'deployless' : 'plain'
  return [...new Set(reads().map(wayOf))]
}
const mixed = () => [callTo(word), callTo(burning), callTo(thirsty), callTo(word)]
const mixedResults = [returnedWord(7), { kind: 'failed' }, returnedWord(9), returnedWord(7)]
const manyWords = (count: number) => Array.from({ length: count }, () => callTo(word))

describe('a node', () => {
  const nodes: readonly [string, Rule | undefined, string][] = [
    ['that does everything', undefined, 'stateOverride'],
    ['that refuses overrides', call => (overrides(call) ? refusal : undefined), 'deployless'],
    [
      'that does not look at overrides',
      call => (overrides(call) ? insteadOf(call, call.params.slice(0, 2)) : undefined),
      'deployless'
    ],
    [
      'that forgets the hash beside an override',
      call => (overrides(call) ? insteadOf(call, [call.params[0], 'latest', call.params[2]]) : undefined),
      'deployless'
    ],
    [
      'that keeps the data of a revert to itself',
      call =>
        overrides(call) || isInitcode(call)
          ? { error: { code: 3, message: 'execution reverted' } }
          : undefined,
      'plain'
    ]
  ]
  test.for(nodes)('%s is read right, in the way it offers', async ([, rule, way], context) => {
    await nodeWith(context, rule)
    expect(await read(mixed())).toEqual(mixedResults)
    // Second looks are plain whatever way the first took.
    expect(waysTaken()[0]).toBe(way)
  })

  const shapes: readonly [string, (data: string) => RuleAnswer][] = [
    ['after a word', data => ({ error: { code: -32015, message: 'VM error', data: `Reverted ${data}` } })],
    [
      'in an object',
      data => ({
        error: { code: -32603, message: 'reverted', data: { message: 'no reason', data } } as never
      })
    ],
    [
      'two objects deep',
      data => ({ error: { code: -32000, message: 'x', data: { originalError: { data } } } as never })
    ],
    [
      'in upper case',
      data => ({ error: { code: 3, message: 'x', data: `0x${data.slice(2).toUpperCase()}` } })
    ],
    ['as a result', data => ({ result: data })]
  ]
  test.for(shapes)('that gives the data of a revert %s is understood', async ([, shape], context) => {
    await nodeWith(context, async call => {
      if (overrides(call)) return refusal
      if (!isInitcode(call)) return undefined
      const answer = (await insteadOf(call, call.params)) as { error?: { data?: string } }
      return answer.error?.data === undefined ? (answer as RuleAnswer) : shape(answer.error.data)
    })
    expect(await read(mixed())).toEqual(mixedResults)
    expect(waysTaken()[0]).toBe('deployless')
  })

  const gasOf = ({ params }: ProxiedCall) => Number((params[0] as { gas: string }).gas)

  test('that refuses more than ten million gas is asked with ten at most', async context => {
    await nodeWith(context, call =>
      call.method === 'eth_call' && gasOf(call) > 10_000_000
        ? { error: { code: -32000, message: 'gas limit is too high' } }
        : undefined
    )
    const calls = Array.from({ length: 40 }, (_, i) =>
      callTo(i % 2 === 0 ? burning : thirsty, { generousGas: 30_000_000 })
    )
    const found = await read(calls)
    expect(found).toEqual(calls.map((_, i) => (i % 2 === 0 ? { kind: 'failed' } : returnedWord(9))))
    expect(Math.max(...reads().map(gasOf))).toBe(10_000_000)
  })

  test('that gives less gas than it was asked for does not make honest reads fail', async context => {
    await nodeWith(context, call => {
      if (call.method !== 'eth_call' || gasOf(call) <= 3_000_000) return undefined
      const [request, ...rest] = call.params
      return insteadOf(call, [{ ...(request as object), gas: '0x2dc6c0' }, ...rest])
    })
    const calls = Array.from({ length: 40 }, (_, i) => callTo(i % 2 === 0 ? burning : thirsty))
    expect(await read(calls)).toEqual(
      calls.map((_, i) => (i % 2 === 0 ? { kind: 'failed' } : returnedWord(9)))
    )
  })

  test('that gives no long answers is asked for less at a time', async context => {
    const mostBytes = 300_000
    await nodeWith(context, async (call, truth) => {
      if (call.method !== 'eth_call') return undefined
      const result = await truth()
      return typeof result === 'string' && result.length > mostBytes
        ? { error: { code: -32000, message: 'response too large' } }
        : undefined
    })
    const calls = Array.from({ length: 60 }, () =>
      callTo(long, { gas: 3_000_000, maxReturnBytes: 512 * 1024 })
    )
    const found = await read(calls)
    expect(found.map(result => result.kind === 'returned' && result.data.length)).toEqual(
      calls.map(() => 100_000)
    )
  })
})

describe('what was found out about a node', () => {
  test('is not asked for again', async context => {
    await nodeWith(context)
    await read(mixed())
    proxy.calls.length = 0
    await read(mixed())
    expect(proxy.calls.filter(isProbe)).toEqual([])
  })

  test('is looked at again after ten minutes where a way was missing', async context => {
    let isUpgraded = false
    await nodeWith(context, call => (!isUpgraded && overrides(call) ? refusal : undefined))
    await read(mixed())
    isUpgraded = true
    proxy.calls.length = 0
    await read(mixed())
    expect(waysTaken()[0]).toBe('deployless')
    aheadMs += 600_000
    proxy.calls.length = 0
    await read(mixed())
    expect(waysTaken()[0]).toBe('stateOverride')
  })

  test('is corrected in the middle of a snapshot when a way stops working, and soon tried again', async context => {
    let isRefusing = false
    await nodeWith(context, call => {
      if (!overrides(call)) return undefined
      if (isRefusing) return refusal
      if (!isProbe(call)) isRefusing = true
      return undefined
    })
    expect(await read(manyWords(1_500))).toEqual(manyWords(1_500).map(() => returnedWord(7)))
    expect(waysTaken()).toEqual(['stateOverride', 'deployless'])
    isRefusing = false
    aheadMs += 5_000
    proxy.calls.length = 0
    await read(manyWords(1))
    expect(waysTaken()).toEqual(['stateOverride'])
  })
})

describe('time', () => {
  const naming =
    (address: Address) =>
    ({ method, params }: NodeCall) =>
      method === 'eth_call' && JSON.stringify(params).includes(address.slice(2))

  /**
   * A node that never answers for the slow contract. Exchanges with that contract are given 20 ms, all others as long as
   * they take: a busy machine does not look like a slow contract.
   */
  async function startSlowNode(context: TestContext) {
    const isSlow = naming(slow)
    const held = new Promise<undefined>(resolve => context.onTestFinished(() => resolve(undefined)))
    const { proxy, rpc } = await startNode(
      context,
      call => (isSlow(call) ? held : undefined),
      patient(60_000)
    )
    let cut = 0
    const hurried = (node: EvmNode): EvmNode => ({
      ...node,
      async within(_, ask) {
        const cutShort = new Error('cut short')
        try {
          return await node.within(patient(60_000), own =>
            ask({
              ...own,
              async batch(calls, ...rest) {
                if (!calls.some(isSlow)) return own.batch(calls, ...rest)
                const outcomes = await own.within(20, inner => inner.batch(calls, ...rest))
                if (outcomes !== undefined) return outcomes
                cut++
                throw cutShort
              }
            })
          )
        } catch (error) {
          if (error === cutShort) return undefined
          throw error
        }
      }
    })
    const slowRpc: EvmUpstreams = {
      ...rpc,
      onOneNode: (what, work, options) => rpc.onOneNode(what, node => work(hurried(node)), options)
    }
    return { proxy, rpc: slowRpc, cutExchanges: () => cut }
  }

  test.concurrent.for(['stateOverride', 'deployless', 'plain'] as const)(
    'that one contract takes is not taken from others, by %s',
    async (way, context) => {
      const node = await startSlowNode(context)
      const calls = manyWords(400)
      calls[123] = callTo(slow)
      const found = await read(calls, { strategies: [way] }, node.rpc)
      expect(found.filter(({ kind }) => kind === 'failed')).toHaveLength(1)
      expect(found[123]).toEqual({ kind: 'failed' })
      expect(node.cutExchanges()).toBe(3)
    }
  )

  test('that a crowd of slow contracts takes is bounded', async context => {
    const node = await startSlowNode(context)
    const calls = Array.from({ length: 900 }, (_, i) => callTo(i % 3 === 0 ? slow : word))
    const found = await read(calls, {}, node.rpc)
    expect(found.every(({ kind }, i) => kind === 'failed' || i % 3 !== 0)).toBe(true)
    expect(node.cutExchanges()).toBeGreaterThan(1)
    expect(reads(node.proxy).length).toBeLessThan(400)
  })

  test('that a silent node takes ends with an error', async context => {
    let release = () => {}
    const held = new Promise<undefined>(resolve => {
      release = () => resolve(undefined)
    })
    let isArmed = false
    let isSilent = false
    await nodeWith(
      context,
      call => {
        if (isArmed && call.method === 'eth_call') isSilent = true
        return isSilent ? held : undefined
      },
      2_000
    )
    await read(manyWords(1))
    isArmed = true
    const reading = read(mixed(), { exchangeTimeoutMs: 100 })
    await expect(reading).rejects.toMatchObject({ name: 'NodeUnavailableError' })
    release()
  })

  test('of one bad moment does not begin everything anew', async context => {
    let failures = 2
    await nodeWith(context, call =>
      call.method === 'eth_call' && !isProbe(call) && failures-- > 0 ? { status: 503 } : undefined
    )
    expect(await read(manyWords(600))).toEqual(manyWords(600).map(() => returnedWord(7)))
    expect(proxy.calls.filter(({ params }) => params[0] === 'latest')).toHaveLength(1)
  })
})
