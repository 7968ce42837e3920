import { accountEventsIn, type BlockRows, decodeDetailed } from '@chain-data/index/record'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createEvmSource } from '../../src/evm/blocks/evmSource.ts'
import { createTracing } from '../../src/evm/blocks/traces/createTracing.ts'
import type { TraceMode } from '../../src/model/traceMode.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../src/platform/errors.ts'
import type { Logger } from '../../src/platform/logger.ts'
import { type Fault, type FaultProxy, Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { act, puppetCode } from './puppets.ts'
import { chainId, startTracedChain, type TracedChain, untracedBlock } from './tracedChain.ts'

const eoa = '0x00000000000000000000000000000000000e0a01'

let chain: TracedChain
/** A block in which a contract pays 1 wei, one whose transaction fails, and one without transactions. */
let paying: number
let failing: number
let empty: number
/** Two upstreams over the same node. */
let first: FaultProxy
let second: FaultProxy
const opened: EvmUpstreams[] = []

beforeAll(async () => {
  chain = await startTracedChain()
  const { contractAddress: to } = await chain.send({ data: puppetCode(), value: '0x64' })
  paying = Number((await chain.send({ to, data: act({ do: 'call', at: eoa, value: 1n }) })).blockNumber)
  failing = Number((await chain.send({ to, data: act({ do: 'revert' }), value: '0x1' })).blockNumber)
  await chain.call('evm_mine')
  empty = Number(await chain.call('eth_blockNumber'))
})
afterAll(() => chain.close())

beforeEach(async () => {
  first = await startFaultProxy(chain.rpcUrl)
  second = await startFaultProxy(chain.rpcUrl)
})
afterEach(async () => {
  for (const rpc of opened.splice(0)) rpc.close()
  await first.close()
  await second.close()
})

function open(rpcUrls: readonly string[] = [first.url, second.url]): EvmUpstreams {
  const rpc = createEvmRpc({ chainId, rpcUrls, timeoutMs: 5_000 })
  opened.push(rpc)
  return rpc
}

const read = (traces: TraceMode, number: number, rpcUrls?: readonly string[]) =>
  createEvmSource({ rpc: open(rpcUrls), finality: 'auto', traces }).block(number)

function internalOf({ ids, records }: BlockRows) {
  return decodeDetailed({ ids: Array.from(ids), bytes: records }).map(({ details }) =>
    details.internal?.map(({ value }) => value)
  )
}

/** What is worth a line in a host's log. */
function createLog() {
  const lines: string[] = []
  const log = (severity: string) => (message: string) => lines.push(`${severity}: ${message}`)
  const logger = { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') }
  return { lines, logger: logger as unknown as Logger }
}

const isTrace = (method: string) => method === 'trace_block' || method === 'debug_traceBlockByHash'
const tracesAskedOf = ({ calls }: FaultProxy) => calls.map(({ method }) => method).filter(isTrace)

/** Refuses some methods as a node does that lacks them. */
const lacking =
  (...methods: readonly string[]): Fault =>
  ({ method }, result) => {
    if (methods.includes(method)) throw new Refusal(-32601, 'the method does not exist')
    return result
  }
const withoutTraces = lacking('trace_block', 'debug_traceBlockByHash')
const changing =
  (wanted: string, change: (result: never) => unknown): Fault =>
  ({ method }, result) =>
    method === wanted ? change(structuredClone(result) as never) : result

describe('a chain of several upstreams', () => {
  it('is traced by the one that offers traces', async () => {
    first.setFault(withoutTraces)
    expect(internalOf(await read('on', paying))).toEqual([[1n]])
    expect(tracesAskedOf(second)).toEqual(['trace_block'])
  })

  it('is traced by the second method where the first is missing, which is asked for once', async () => {
    first.setFault(lacking('trace_block'))
    const source = createEvmSource({ rpc: open([first.url]), finality: 'auto', traces: 'on' })
    expect(internalOf(await source.block(paying))).toEqual([[1n]])
    expect(internalOf(await source.block(paying))).toEqual([[1n]])
    expect(tracesAskedOf(first)).toEqual(['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByHash'])
  })

  it.each<[string, Fault]>([
    [
      'another value of the transaction',
      changing('trace_block', (list: [{ action: { value: string } }]) => {
        list[0].action.value = '0x5'
        return list
      })
    ],
    [
      'another sender',
      changing('trace_block', (list: [{ action: { from: string } }]) => {
        list[0].action.from = eoa
        return list
      })
    ],
    [
      'another receiver',
      changing('trace_block', (list: [{ action: { to: string } }]) => {
        list[0].action.to = eoa
        return list
      })
    ],
    [
      'a failure',
      changing('trace_block', (list: [{ error?: string }]) => {
        list[0].error = 'Reverted'
        return list
      })
    ],
    [
      'another block',
      changing('trace_block', (list: { blockHash: string }[]) =>
        list.map(entry => ({ ...entry, blockHash: `0x${'7'.repeat(64)}` }))
      )
    ],
    ['nothing, as one that lags', changing('trace_block', () => [])],
    ['that it does not know the block', changing('trace_block', () => null)],
    [
      'that its tracer has run out of time',
      ({ method }, result) => {
        if (method === 'trace_block') throw new Refusal(-32000, 'execution timeout')
        return result
      }
    ],
    [
      'that it has thrown the state away',
      ({ method }, result) => {
        if (method === 'trace_block') throw new Refusal(-32000, 'missing trie node')
        return result
      }
    ]
  ])('is traced by another one where one says %s', async (_, fault) => {
    first.setFault(fault)
    expect(internalOf(await read('on', paying))).toEqual([[1n]])
    expect(tracesAskedOf(second)).toEqual(['trace_block'])
    await expect(read('on', paying, [first.url])).rejects.toThrow(/block \d+|trace/)
  })
})

/** As Besu tells of a creation that its creator could not pay for. */
const selfCreating: Fault = changing('trace_block', (list: { action: { to: string } }[]) => {
  const [root] = list
  if (root === undefined) return list
  const { to } = root.action
  const creation = {
    ...root,
    type: 'create',
    traceAddress: [9],
    action: { from: to, value: '0x5', init: '0x', gas: '0x0' },
    result: { address: to, code: '0x', gasUsed: '0x0' }
  }
  return [...list, creation]
})

describe('traces that tell steps of other accounts', () => {
  it('are asked for by the other method', async () => {
    first.setFault(selfCreating)
    const rows = await read('on', paying, [first.url])
    expect(internalOf(rows)).toEqual([[1n]])
    const other = await read('on', paying, [second.url])
    expect(accountEventsIn(rows.extras)).toEqual(accountEventsIn(other.extras))
    expect(tracesAskedOf(first)).toEqual(['trace_block', 'debug_traceBlockByHash'])
  })

  it('are refused where there is no other method', async () => {
    first.setFault((call, result) => lacking('debug_traceBlockByHash')(call, selfCreating(call, result)))
    await expect(read('on', paying, [first.url])).rejects.toThrow('accounts that did not take them')
  })

  it('are refused by the other method too', async () => {
    const laidToOthers: Fault = changing(
      'debug_traceBlockByHash',
      ([entry]: [{ result: { calls: [{ from: string }] } }]) => {
        entry.result.calls[0].from = eoa
        return [entry]
      }
    )
    first.setFault((call, result) => lacking('trace_block')(call, laidToOthers(call, result)))
    await expect(read('on', paying, [first.url])).rejects.toThrow('accounts that did not take them')
  })
})

describe('without traces', () => {
  it('"on" refuses the block, and names the methods', async () => {
    first.setFault(withoutTraces)
    const block = read('on', paying, [first.url])
    await expect(block).rejects.toThrow(NodeUnavailableError)
    await expect(block).rejects.toThrow(
      `block ${paying}: no upstream offers traces (trace_block or debug_traceBlockByHash)`
    )
  })

  it('"auto" takes the block as it is, and says so once', async () => {
    first.setFault(withoutTraces)
    const { lines, logger } = createLog()
    const source = createEvmSource({ rpc: open([first.url]), finality: 'auto', traces: 'auto', logger })
    for (const number of [paying, failing]) {
      const rows = await source.block(number)
      expect([rows.isTraced, internalOf(rows)]).toEqual([false, [undefined]])
    }
    expect(lines).toEqual(['warn: blocks are indexed without traces'])
    expect(tracesAskedOf(first)).toEqual(['trace_block', 'debug_traceBlockByHash'])
  })

  it('"auto" waits a minute for a node that had them, then goes on without', async () => {
    let now = 0
    const rpc = open([first.url])
    const { lines, logger } = createLog()
    const addTraces = createTracing({ rpc, mode: 'auto', logger, clock: { now: () => now } })
    const block = await untracedBlock(rpc, paying)
    expect((await addTraces(block, false)).isTraced).toBe(true)
    first.setFault(changing('trace_block', () => []))
    await expect(addTraces(block, false)).rejects.toThrow(NodeContradictionError)
    now = 59_999
    await expect(addTraces(block, false)).rejects.toThrow(NodeContradictionError)
    now = 60_000
    expect((await addTraces(block, false)).isTraced).toBeUndefined()
    first.setFault(undefined)
    expect((await addTraces(block, false)).isTraced).toBe(true)
    expect(lines).toEqual([
      'warn: blocks are indexed without traces',
      'info: blocks are indexed with traces again'
    ])
  })

  it('"auto" does not wait a minute for each block while a node is silent', async () => {
    let now = 0
    const rpc = open([first.url])
    const addTraces = createTracing({ rpc, mode: 'auto', clock: { now: () => now } })
    const block = await untracedBlock(rpc, paying)
    const asked = vi.spyOn(rpc, 'onOneNode')
    first.setFault(changing('trace_block', () => []))
    await expect(addTraces(block, false)).rejects.toThrow(NodeContradictionError)
    now = 60_000
    for (let times = 0; times < 2; times++) expect((await addTraces(block, false)).isTraced).toBeUndefined()
    const limits = asked.mock.calls.map(([, , options]) => options?.timeoutMs)
    expect(limits).toEqual([60_000, 60_000, 5_000])
  })

  it('"off" asks for none', async () => {
    expect((await read('off', paying)).isTraced).toBe(false)
    expect([...tracesAskedOf(first), ...tracesAskedOf(second)]).toEqual([])
  })
})

describe('blocks of their own kind', () => {
  it('asks for nothing of a block in which nothing can have happened, and calls it traced', async () => {
    first.setFault(withoutTraces)
    for (const number of [0, empty]) expect((await read('on', number, [first.url])).isTraced).toBe(true)
    expect(tracesAskedOf(first)).toEqual([])
  })

  it('asks who was paid for an empty block of proof of work, where a node can tell', async () => {
    const worked = changing('eth_getBlockByNumber', (block: object) => ({ ...block, difficulty: '0x20000' }))
    const reward = {
      blockHash: (
        await chain.call<{ hash: string }>('eth_getBlockByNumber', `0x${empty.toString(16)}`, false)
      ).hash
    }
    first.setFault((call, result) =>
      call.method === 'trace_block'
        ? [
            {
              ...reward,
              type: 'reward',
              action: { author: eoa, value: '0x9', rewardType: 'block' },
              traceAddress: []
            }
          ]
        : worked(call, result)
    )
    const rows = await read('on', empty, [first.url])
    const events = [{ kind: 'reward', amount: 9n }]
    expect(accountEventsIn(rows.extras)).toEqual([{ address: eoa, events }])
    second.setFault((call, result) => withoutTraces(call, worked(call, result)))
    expect((await read('on', empty, [second.url])).isTraced).toBe(true)
  })

  it('believes the trace of a failure where receipts do not say (before Byzantium), and no other one', async () => {
    const unsaid: Fault = ({ method }, result) => {
      if (!/Receipt/.test(method)) return result
      const receipts = (Array.isArray(result) ? result : [result]) as { status?: string }[]
      for (const receipt of receipts) delete receipt.status
      return result
    }
    first.setFault(unsaid)
    expect(internalOf(await read('on', failing, [first.url]))).toEqual([[]])
    second.setFault(
      changing('eth_getBlockReceipts', ([receipt]: [object]) => [{ ...receipt, status: '0x1' }])
    )
    await expect(read('on', failing, [second.url])).rejects.toThrow(
      'does not end as its receipt says: it succeeded'
    )
  })
})
