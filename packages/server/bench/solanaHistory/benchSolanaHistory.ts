import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSolanaService } from '../../test/solana/startSolanaService.ts'
import { askHistory, type PageOptions } from '../../test/solanaHistory/askHistory.ts'

const latencyMs = 50
const runs = Number(process.env.SOLANA_HISTORY_RUNS ?? 3)
const sizes = [
  { tokenAccounts: 5, transactions: 200 },
  { tokenAccounts: 500, transactions: 20_000 }
]

/** Reads pages of a large wallet through a node that takes its time; README.md beside this file says what is timed. */
export async function benchSolanaHistory(print: (line: string) => void): Promise<object> {
  const figures: object[] = []
  for (const size of sizes) {
    const node = fork(
      fileURLToPath(new URL('latentNode.ts', import.meta.url)),
      [latencyMs, size.tokenAccounts, size.transactions].map(String),
      { execArgv: ['--conditions=@chain-data/source'] }
    )
    const { url, wallet } = await nextMessage<{ url: string; wallet: string }>(node)
    const all: Step[][] = []
    try {
      for (let run = 0; run < runs; run++) all.push(await readOnce(node, url, wallet))
    } finally {
      node.kill()
    }
    for (const what of (all[0] ?? []).map(step => step.what)) {
      const steps = all.flatMap(run => run.filter(step => step.what === what))
      const ms = spread(steps.map(step => step.ms))
      const peakMiB = spread(steps.map(step => step.peakMiB))
      const calls = steps[0]?.calls
      figures.push({ ...size, what, ms, calls, peakMiB })
      print(
        `${size.transactions} signatures, ${size.tokenAccounts} token accounts, ${what.padEnd(22)} ${format(ms)} ms, peak ${format(peakMiB)} MiB, ${JSON.stringify(calls)}`
      )
    }
  }
  return { dataset: { latencyMs, runs }, figures }
}

interface Step {
  readonly what: string
  readonly ms: number
  readonly calls: Readonly<Record<string, number>>
  readonly peakMiB: number
}

/** A server with an empty store: the first page, the same again, the one after it, and the first after a restart. */
async function readOnce(node: ChildProcess, url: string, wallet: string): Promise<Step[]> {
  const folder = await mkdtemp(join(tmpdir(), 'solana-history-'))
  const start = () =>
    startSolanaService(
      { rpcUrls: [url] },
      { store: `sqlite:${folder}`, limits: { requestDeadlineMs: 60_000 } }
    )
  let service = await start()
  const steps: Step[] = []
  const ask = async (what: string, page: PageOptions) => {
    globalThis.gc?.()
    await callsOf(node)
    let peak = 0
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 20)
    const from = performance.now()
    const answer = await askHistory(service, wallet, page)
    const ms = performance.now() - from
    clearInterval(watch)
    peak = Math.max(peak, process.memoryUsage.rss())
    steps.push({ what, ms, calls: await callsOf(node), peakMiB: peak / 2 ** 20 })
    return answer.transactions.at(-1)?.signature ?? ''
  }
  try {
    const before = await ask('first page', { limit: 100 })
    await ask('first page again', { limit: 100 })
    await ask('second page', { limit: 100, before })
    await service.close()
    service = await start()
    await ask('first, after a restart', { limit: 100 })
  } finally {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  }
  return steps
}

async function callsOf(node: ChildProcess): Promise<Readonly<Record<string, number>>> {
  node.send('counts')
  return (await nextMessage<{ counts: Record<string, number> }>(node)).counts
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, 'message')) as [T]
  return message
}

interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number) => sorted.at(index) ?? Number.NaN
  return { median: at(Math.floor(sorted.length / 2)), least: at(0), most: at(-1) }
}

function format({ median, least, most }: Spread): string {
  return `${median.toFixed(0)} (${least.toFixed(0)}-${most.toFixed(0)})`
}
