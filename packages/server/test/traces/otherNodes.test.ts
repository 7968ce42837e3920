import { startAnvil } from '@chain-data/devnet'
import { temporaryFolder } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { historyOf, readIndex, runTestIndexer } from '../support/indexHarness.ts'
import { Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { startHardhat } from '../support/startHardhat.ts'
import type { NodeProcess } from '../support/startNodeProcess.ts'
import { onlyHardhat } from '../support/testClients.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Has no `trace_block`, and passes over the name of the tracer: it answers with single instructions. */
async function startWithoutTracer(): Promise<NodeProcess> {
  const anvil = await startAnvil()
  const proxy = await startFaultProxy(anvil.rpcUrl)
  proxy.setFault(({ method }, result) => {
    if (method === 'trace_block') throw new Refusal(-32601)
    if (method !== 'debug_traceBlockByHash') return result
    const traces = result as readonly { readonly txHash: string }[]
    const root = { gas: 21_000, failed: false, returnValue: '', structLogs: [] }
    return traces.map(({ txHash }) => ({ txHash, result: root }))
  })
  return {
    rpcUrl: proxy.url,
    async stop() {
      await proxy.close()
      await anvil.stop()
    }
  }
}

/** Neither traces whole blocks: hardhat traces single transactions. */
describe.each([
  ['a node without the callTracer', startWithoutTracer] as const,
  ...onlyHardhat.map(name => [name, startHardhat] as const)
])('%s', (_, start) => {
  async function index() {
    const node = await start()
    cleanUps.push(() => node.stop())
    const call = async (method: string, ...params: unknown[]) => {
      const response = await fetch(node.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      })
      return ((await response.json()) as { result?: unknown }).result
    }
    const [from = '', to = ''] = (await call('eth_accounts')) as string[]
    await call('eth_sendTransaction', { from, to, value: '0x1' })
    if ((await call('eth_blockNumber')) === '0x0') await call('evm_mine')
    const folder = await temporaryFolder()
    cleanUps.push(folder.remove)
    return {
      folder: folder.path,
      to: to.toLowerCase(),
      run(traces: 'on' | 'auto') {
        const indexer = runTestIndexer(folder.path, { rpcUrls: [node.rpcUrl], traces })
        cleanUps.push(() => indexer.stop())
        return indexer
      }
    }
  }

  it('is indexed without traces where they are "auto"', async () => {
    const { folder, to, run } = await index()
    await run('auto').until('block 1 is indexed', ({ indexedTo }) => indexedTo?.number === 1)
    expect(await historyOf(folder, to)).toHaveLength(1)
    const coverage = await readIndex(folder, snapshot => snapshot.coverage())
    expect(coverage.tracedFrom).toBeUndefined()
  })

  it('is not indexed where they are "on", and says why', async () => {
    const { folder, to, run } = await index()
    const { problem } = await run('on').until('it stalls', ({ phase }) => phase === 'stalled')
    expect(problem).toBe('block 1: no upstream offers traces (trace_block or debug_traceBlockByHash)')
    expect(await historyOf(folder, to)).toEqual([])
  })
})
