/**
 * One process that reads one dataset in one way, several times, and prints its figures as JSON: so that its peak of memory is
 * its own. Arguments: node URL, dataset, way, runs.
 */
import { subscribe } from 'node:diagnostics_channel'
import { argv } from 'node:process'
import { createEvmHoldings } from '../../src/evm/holdings/holdings.ts'
import { type StrategyName, strategyNames } from '../../src/evm/state/findStrategies.ts'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'
import { datasets, owner } from './datasets.ts'

/** What one run has shown. */
export interface Run {
  readonly ms: number
  readonly requests: number
  /** What was listed, or the name of the error. */
  readonly outcome: string
}

/** What one process prints. */
export interface Measured {
  readonly runs: readonly Run[]
  readonly peakRssBytes: number
}

const deadlineMs = 25_000
const [, , nodeUrl = '', dataset = '', wanted = '', runCount = '3'] = argv
const way = strategyNames.find(name => name === wanted)
const candidates = datasets[dataset]?.()
if (way === undefined || candidates === undefined) throw new Error(`no dataset ${dataset} or way ${wanted}`)

let requests = 0
subscribe('http.client.request.start', () => {
  requests++
})
const rpc = createEvmRpc({ chainId: 31337, rpcUrls: [nodeUrl] })

async function run(name: StrategyName, given: NonNullable<typeof candidates>): Promise<Run> {
  requests = 0
  const startedMs = performance.now()
  // A new reader, so that nothing is remembered of the contracts; what the node can do is.
  const holdings = createEvmHoldings({ rpc, chainId: 31337, strategies: [name] })
  const outcome = await holdings
    .readHoldings({ address: owner, candidates: given, deadlineMs: Date.now() + deadlineMs })
    .then(
      ({ tokens, nfts, incomplete }) =>
        `${tokens.length} tokens, ${nfts.length} NFTs, ${incomplete.length} incomplete`,
      (error: Error) => error.name
    )
  return { ms: performance.now() - startedMs, requests, outcome }
}

await run(way, candidates.slice(0, 2_000))
const runs: Run[] = []
for (let i = 0; i < Number(runCount); i++) runs.push(await run(way, candidates))
rpc.close()
const measured: Measured = { runs, peakRssBytes: process.resourceUsage().maxRSS * 1024 }
process.stdout.write(JSON.stringify(measured))
