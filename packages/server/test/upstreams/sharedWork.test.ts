import { eventually } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { SolanaHistoryRpc } from '../../src/features/solanaHistory/history/historyRpc.ts'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { createSharedWork } from '../../src/platform/concurrency/deadline.ts'
import { type ScriptedNode, startScriptedNode } from '../solana/startScriptedNode.ts'
import { useUpstreams } from './useUpstreams.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? Date.now() % 1_000_000)
process.stdout.write(`CHAIN_DATA_TEST_SEED=${seed}\n`)
const waits = 50

const use = useUpstreams()
const nodes: ScriptedNode[] = []
afterEach(() => Promise.all(nodes.splice(0).map(node => node.close())))

/** Work that 50 callers share; it ends when it is let go. */
interface Shared {
  ask(signal: AbortSignal): Promise<unknown>
  hasBegun(): boolean
  finish(): void
}

/** Calls off some of 50 waits in any order, the first one among them, which began the work; all others must have their answer. */
async function callOffSome({ ask, hasBegun, finish }: Shared): Promise<void> {
  const random = createRandom(seed)
  const callers = Array.from({ length: waits }, () => new AbortController())
  const asked = callers.map(({ signal }) =>
    ask(signal).then(
      () => 'answered',
      error => error
    )
  )
  await eventually('the shared work has begun', hasBegun)
  const leaving = new Set([0])
  while (leaving.size < waits / 2) leaving.add(random.below(waits))
  const gone = [...leaving].sort(() => random.below(2) - 0.5)
  for (const at of gone) callers[at]!.abort(at)
  await Promise.all(gone.map(at => asked[at]))
  finish()
  expect(await Promise.all(asked)).toEqual(callers.map((_, at) => (leaving.has(at) ? at : 'answered')))
}

/** A promise and what fulfils it. */
function createGate() {
  let open = () => {}
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}

describe('an abort ends the work of no other caller', () => {
  it('of one name', async () => {
    const share = createSharedWork()
    const gate = createGate()
    let runs = 0
    const run = async (signal: AbortSignal) => {
      runs++
      await gate.opened
      signal.throwIfAborted()
      return 'answer'
    }
    await callOffSome({
      ask: signal => share('name', signal, run),
      hasBegun: () => runs > 0,
      finish: gate.open
    })
    expect(runs).toBe(1)
  })

  it('that waits for the slot of a Solana node', async () => {
    const gate = createGate()
    const slots: string[] = []
    const node = await startScriptedNode(call => {
      const answer = (result: unknown) => ({ body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result }) })
      if (call.method !== 'getSlot') return answer(call.method === 'getFirstAvailableBlock' ? 0 : [])
      slots.push(call.id)
      return { ...answer(100), after: gate.opened }
    })
    nodes.push(node)
    const solana = createSolanaNodes({ rpcUrls: [node.url] })
    const rpc = new SolanaHistoryRpc(solana, 'confirmed')
    await callOffSome({
      ask: signal => rpc.getSignaturesForAddress(TOKEN_PROGRAM, {}, { signal, minContextSlot: 100 }),
      hasBegun: () => slots.length > 0,
      finish: gate.open
    })
    expect(slots).toHaveLength(1)
  })

  it('that waits for the genesis hash of a Solana node', async () => {
    const gate = createGate()
    const hash = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkPkZBG'
    const start = async () => {
      const node = await startScriptedNode(({ id, method }) => {
        const result = method === 'getGenesisHash' ? hash : 1
        return { body: JSON.stringify({ jsonrpc: '2.0', id, result }), after: gate.opened }
      })
      node.genesisHash = undefined
      nodes.push(node)
      return node
    }
    const [first, second] = [await start(), await start()]
    const rpc = new SolanaHistoryRpc(createSolanaNodes({ rpcUrls: [first.url, second.url] }), 'confirmed')
    await callOffSome({
      ask: signal => rpc.call('getSlot', [], { signal }),
      hasBegun: () => first.calls.length > 0,
      finish: gate.open
    })
    expect(first.calls.filter(({ method }) => method === 'getGenesisHash')).toHaveLength(1)
  })

  it('that waits for the chain id of an EVM node', async () => {
    const { rpc, proxies } = await use.pool(1)
    const gate = createGate()
    proxies[0]!.obey(async ({ method }, truth) => {
      if (method !== 'eth_chainId') return undefined
      await gate.opened
      return { result: await truth() }
    })
    const chainIds = () => proxies[0]!.calls.filter(({ method }) => method === 'eth_chainId')
    await callOffSome({
      ask: signal => rpc.request({ method: 'eth_gasPrice', params: [] }, { signal }),
      hasBegun: () => chainIds().length > 0,
      finish: gate.open
    })
    expect(chainIds()).toHaveLength(1)
  })
})
