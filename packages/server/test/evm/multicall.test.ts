import { startAnvil } from '@chain-data/devnet'
import type { Address } from '@chain-data/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { findStrategies, strategyNames } from '../../src/evm/state/findStrategies.ts'
import { pinBlock, readLatestBlock } from '../../src/evm/state/pinBlock.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { startHardhat } from '../support/startHardhat.ts'
import { onlyHardhat } from '../support/testClients.ts'
import {
  type Answer,
  afterRounds,
  assembleContract,
  countsReads,
  invalid,
  loops,
  returnsFirstArgument,
  returnsWord,
  returnsZeros,
  reverts,
  revertsWith,
  stops
} from './assembleContract.ts'
import { callTo, createPlacer, nobody, resultsOf, returnedWord, useMulticall } from './useMulticall.ts'

interface TestNode {
  readonly rpcUrl: string
  stop(): Promise<unknown>
}

/** An anvil that takes a block by its number or tag only. */
async function startByNumber(): Promise<TestNode> {
  const anvil = await startAnvil()
  const proxy = await startFaultProxy(anvil.rpcUrl)
  proxy.setFault(({ params }, result) => {
    if (params.some(param => typeof param === 'object' && param !== null && 'blockHash' in param))
      throw new Refusal(-32602, 'invalid block tag')
    return result
  })
  return {
    rpcUrl: proxy.url,
    async stop() {
      await proxy.close()
      await anvil.stop()
    }
  }
}

const nodes: readonly {
  readonly name: string
  readonly start: () => Promise<TestNode>
  readonly setCode: string
  /** How a block is named there. */
  readonly byHash: boolean
  /** Calls that burn half a million gas each, as many as it does in a moment. */
  readonly burners: number
  /** Plain calls that it answers in a moment: in any case several batches of 99. */
  readonly plainReads: number
}[] = [
  {
    name: 'anvil',
    start: startAnvil,
    setCode: 'anvil_setCode',
    byHash: true,
    burners: 250,
    plainReads: 1_100
  },
  {
    name: 'a node without EIP-1898',
    start: startByNumber,
    setCode: 'anvil_setCode',
    byHash: false,
    burners: 250,
    plainReads: 1_100
  },
  ...onlyHardhat.map(name => ({
    name,
    start: startHardhat,
    setCode: 'hardhat_setCode',
    byHash: true,
    burners: 6,
    plainReads: 250
  }))
]

describe.each(nodes)('on $name', ({ start, setCode, byHash, burners, plainReads }) => {
  let node: TestNode
  let rpc: EvmUpstreams
  let place: ReturnType<typeof createPlacer>
  const contract = (answer: Answer) => place(assembleContract({}, answer))
  const mine = () => rpc.request({ method: 'evm_mine', params: [] })

  beforeAll(async () => {
    node = await start()
    rpc = createEvmRpc({ chainId: 31337, rpcUrls: [node.rpcUrl], timeoutMs: patient(20_000) })
    place = createPlacer(rpc, setCode)
  })
  afterAll(async () => {
    rpc?.close()
    await node?.stop()
  })

  test('all three ways work, and the first one is taken', async () => {
    const { pinned, found } = await rpc.onOneNode('test', async node => {
      const { pinned } = await pinBlock(node, await readLatestBlock(node), nobody)
      return { pinned, found: await findStrategies(node, pinned) }
    })
    expect(pinned.byHash).toBe(byHash)
    expect(found.map(({ name }) => name)).toEqual(['stateOverride', 'deployless', 'plain'])
    expect(found.map(({ gas }) => gas)).toEqual([50_000_000, 50_000_000, 50_000_000])
  })

  describe.each(strategyNames)('by %s', way => {
    const read = (calls: Parameters<typeof resultsOf>[1]) =>
      useMulticall(rpc, { strategies: [way], exchangeTimeoutMs: 60_000 }, multicall =>
        resultsOf(multicall, calls)
      )

    test('what a contract returns, refuses or fails at is told apart, each alone', async () => {
      const cases: [Answer | Address, string | object, number?][] = [
        [returnsWord(7), returnedWord(7)],
        [stops, { kind: 'returned', data: '' }],
        [reverts, { kind: 'reverted' }],
        [revertsWith(64), { kind: 'reverted' }],
        [revertsWith(100_000), { kind: 'reverted' }],
        [invalid, { kind: 'failed' }],
        [loops, { kind: 'failed' }],
        [returnsZeros(4097), { kind: 'failed' }],
        [returnsZeros(400_000), { kind: 'failed' }],
        [returnsZeros(1_000_000), { kind: 'failed' }],
        [returnsZeros(4096), { kind: 'returned', data: '00'.repeat(4096) }],
        ['0x00000000000000000000000000000000000dead0', { kind: 'returned', data: '' }],
        ['0x0000000000000000000000000000000000000004', { kind: 'returned', data: '70a08231' }],
        [returnsWord(8), returnedWord(8)]
      ]
      const calls = await Promise.all(
        cases.map(async ([what]) => callTo(typeof what === 'string' ? what : await contract(what)))
      )
      await mine()
      expect(await read(calls)).toEqual(cases.map(([, expected]) => expected))
    })

    test('many reads keep their order', async () => {
      const echo = await contract(returnsFirstArgument)
      const refusing = await contract(reverts)
      await mine()
      const calls = Array.from({ length: way === 'plain' ? plainReads : 1_100 }, (_, i) =>
        i % 7 === 3
          ? callTo(refusing)
          : callTo(echo, { data: `0x70a08231${i.toString(16).padStart(64, '0')}` })
      )
      const expected = calls.map((_, i) => (i % 7 === 3 ? { kind: 'reverted' } : returnedWord(i)))
      expect(await read(calls)).toEqual(expected)
    })

    test('a read that needs almost all of its gas gets it, whatever others have burnt', async () => {
      const burning = await contract(loops)
      const thirsty = await contract(afterRounds(18_400, returnsWord(9)))
      await mine()
      const calls = Array.from({ length: burners * 2 }, (_, i) => callTo(i % 2 === 0 ? burning : thirsty))
      // What that costs: with a tenth less it fails.
      const [needed] = await read([callTo(thirsty, { gas: 450_000 })])
      expect(needed).toEqual({ kind: 'failed' })
      const expected = calls.map((_, i) => (i % 2 === 0 ? { kind: 'failed' } : returnedWord(9)))
      expect(await read(calls)).toEqual(expected)
    })

    test('long answers come whole, however many there are', async () => {
      const long = await contract(returnsZeros(100_000))
      await mine()
      const calls = Array.from({ length: 24 }, () =>
        callTo(long, { gas: 3_000_000, maxReturnBytes: 512 * 1024 })
      )
      const found = await read(calls)
      expect(found.map(result => result.kind === 'returned' && result.data.length)).toEqual(
        calls.map(() => 200_000)
      )
    })

    test('a contract that writes while it is read answers, and changes nothing for the next read', async () => {
      const counting = await contract(countsReads)
      await mine()
      expect(await read([callTo(counting), callTo(counting)])).toEqual([returnedWord(1), returnedWord(1)])
    })

    test('a second look with more gas is taken where the first was too short', async () => {
      const costly = await contract(afterRounds(25_000, returnsWord(5)))
      await mine()
      expect(await read([callTo(costly), callTo(costly, { generousGas: 5_000_000 })])).toEqual([
        { kind: 'failed' },
        returnedWord(5)
      ])
    })
  })
})
