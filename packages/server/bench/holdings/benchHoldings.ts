import { execFile } from 'node:child_process'
import { execArgv, execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startAnvil } from '@chain-data/devnet'
import { strategyNames } from '../../src/evm/state/findStrategies.ts'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'
import { datasets, seedDatasets } from './datasets.ts'
import type { Measured } from './measureHoldings.ts'

const runsPerWay = 5
const runsOfFlood = 3
const program = fileURLToPath(new URL('measureHoldings.ts', import.meta.url))
const execute = promisify(execFile)

interface Row {
  readonly dataset: string
  readonly way: string
  readonly medianMs: number
  readonly rangeMs: readonly [number, number]
  readonly timesFirstWay: number
  readonly requests: number
  readonly peakRssMiB: number
  readonly outcomes: readonly string[]
}

/** Reads each dataset in each way; README.md beside this file says what is timed. */
export async function benchHoldings(
  print: (line: string) => void
): Promise<{ readonly rows: readonly Row[] }> {
  const anvil = await startAnvil({ chainId: 31337 })
  const rpc = createEvmRpc({ chainId: 31337, rpcUrls: [anvil.rpcUrl] })
  const rows: Row[] = []
  try {
    await seedDatasets(rpc)
    for (const dataset of Object.keys(datasets)) {
      const runs = dataset === 'flood' ? runsOfFlood : runsPerWay
      for (const way of strategyNames) {
        const { stdout } = await execute(execPath, [
          ...execArgv,
          program,
          anvil.rpcUrl,
          dataset,
          way,
          String(runs)
        ])
        const first = rows.find(row => row.dataset === dataset)
        const row = rowOf(dataset, way, JSON.parse(stdout) as Measured, first)
        rows.push(row)
        print(
          `  ${dataset.padEnd(15)} ${way.padEnd(14)} ${row.medianMs} ms (${row.rangeMs.join('-')})  x${row.timesFirstWay}  ${row.requests} requests  ${row.peakRssMiB} MiB  ${row.outcomes.join('; ')}`
        )
      }
    }
  } finally {
    rpc.close()
    await anvil.stop()
  }
  return { rows }
}

function rowOf(dataset: string, way: string, { runs, peakRssBytes }: Measured, first: Row | undefined): Row {
  const times = runs.map(({ ms }) => Math.round(ms)).sort((a, b) => a - b)
  const medianMs = times[Math.floor(times.length / 2)] ?? Number.NaN
  return {
    dataset,
    way,
    medianMs,
    rangeMs: [times[0] ?? Number.NaN, times.at(-1) ?? Number.NaN],
    timesFirstWay: Math.round((medianMs / (first?.medianMs ?? medianMs)) * 100) / 100,
    requests: runs.at(-1)?.requests ?? 0,
    peakRssMiB: Math.round(peakRssBytes / 1024 / 1024),
    outcomes: [...new Set(runs.map(({ outcome }) => outcome))]
  }
}
