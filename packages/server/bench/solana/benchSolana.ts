import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createLargeAccount } from '../../test/solana/largeAccount.ts'
import { type RpcCall, startScriptedNode } from '../../test/solana/startScriptedNode.ts'
import type { Cost } from './measureOne.ts'

const tokenAccounts = 5_000
const nftEvery = 4
const runs = 5
const ways = [
  'token accounts, library',
  'token accounts, own reader',
  'all accounts, library',
  'all accounts, own reader',
  'whole server'
]

/** Reads one large account in each way; README.md beside this file says what is timed. */
export async function benchSolana(print: (line: string) => void): Promise<object> {
  const large = createLargeAccount({ tokenAccounts, nftEvery })
  const small = createLargeAccount({ tokenAccounts: 50, nftEvery, kinds: 20 })
  const node = await startScriptedNode((call: RpcCall) => {
    const isLarge = node.calls.some(({ params }) => params[0] === large.address)
    return (isLarge ? large : small).react(call)
  })
  const costs = new Map<string, Cost[]>(ways.map(way => [way, []]))
  try {
    // Around and around, so that a slow moment of the machine meets all ways.
    for (let run = 0; run < runs; run++) {
      for (const way of ways) {
        node.calls.length = 0
        costs.get(way)?.push(await measure(way, [node.url, large.address, small.address]))
      }
    }
  } finally {
    await node.close()
  }
  const figures = ways.map(way => {
    const all = costs.get(way) ?? []
    return {
      way,
      totalMs: spread(all.map(cost => cost.totalMs)),
      cpuMs: spread(all.map(cost => cost.cpuMs)),
      longestBlockMs: spread(all.map(cost => cost.longestBlockMs)),
      peakMiB: spread(all.map(cost => cost.peakMiB))
    }
  })
  for (const { way, totalMs, cpuMs, longestBlockMs, peakMiB } of figures) {
    print(
      `${way.padEnd(28)} total ${format(totalMs)} ms   thread ${format(cpuMs)} ms   longest block ${format(longestBlockMs)} ms   peak ${format(peakMiB)} MiB`
    )
  }
  const ratios = ['token accounts', 'all accounts'].map(what => {
    const ratioOf = (figure: 'longestBlockMs' | 'cpuMs' | 'peakMiB') => {
      const medianOf = (who: string) => figures.find(({ way }) => way === `${what}, ${who}`)?.[figure].median
      return (medianOf('library') ?? Number.NaN) / (medianOf('own reader') ?? Number.NaN)
    }
    return {
      what,
      longestBlock: ratioOf('longestBlockMs'),
      cpu: ratioOf('cpuMs'),
      peak: ratioOf('peakMiB')
    }
  })
  for (const { what, longestBlock, cpu, peak } of ratios) {
    print(
      `${what}, library over own reader: longest block ${longestBlock.toFixed(1)}x, thread time ${cpu.toFixed(1)}x, peak memory ${peak.toFixed(2)}x`
    )
  }
  return { dataset: { tokenAccounts, nftEvery, runs }, figures, ratios }
}

function measure(way: string, where: readonly string[]): Promise<Cost> {
  const script = fileURLToPath(new URL('measureOne.ts', import.meta.url))
  const child = fork(script, [way, ...where], {
    execArgv: ['--conditions=@chain-data/source', '--expose-gc']
  })
  return new Promise((resolve, reject) => {
    child.once('message', message => resolve(message as Cost))
    child.once('exit', code => reject(new Error(`${way} ended with code ${code}`)))
  })
}

interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    least: sorted[0] ?? Number.NaN,
    most: sorted.at(-1) ?? Number.NaN
  }
}

function format({ median, least, most }: Spread): string {
  return `${median.toFixed(0).padStart(5)} (${least.toFixed(0)}-${most.toFixed(0)})`
}
