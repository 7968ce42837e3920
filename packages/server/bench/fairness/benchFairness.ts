import { setTimeout as sleep } from 'node:timers/promises'
import { accountAt, chainId, datasetFigures, prepareDataset, whale } from '../http/dataset.ts'
import type { Listening } from '../http/messages.ts'
import { formatSpread, spread } from '../http/spread.ts'
import { startChild } from '../http/startChild.ts'

/** Of the data set of `../http`, a smaller one. */
const figures = { ...datasetFigures, ofWhale: 80_000, ofAccounts: 120_000, accounts: 1_000 }
const rounds = 3
const warmUpMs = 1_000
const measureMs = 4_000
const modestProjects = Array.from({ length: 9 }, (_, index) => `modest-${index}`)
const askEveryMs = 50
const greedyConnections = 20
const unreadHistories = 100

interface Round {
  readonly p50: number
  readonly p99: number
  readonly outcomes: Readonly<Record<string, number>>
}

type Greed = 'batches' | 'unread'

/** Measures nine modest projects alone and beside a greedy one; README.md beside this file says how. */
export async function benchFairness(print: (line: string) => void): Promise<object> {
  const folder = await prepareDataset(print, figures)
  const results: Record<string, unknown> = {}
  for (const quotas of ['without quotas', 'with quotas'] as const) {
    const server = startChild('serveHistory.ts', [folder, quotas === 'with quotas' ? '100' : '1e9'], 0)
    try {
      const { url } = (await server.first) as Listening
      const alone: Round[] = []
      const beside: Record<Greed, Round[]> = { batches: [], unread: [] }
      for (let round = 0; round < rounds; round++) {
        alone.push(await askModestly(url))
        for (const greed of ['batches', 'unread'] as const) {
          const greedy = startChild('../fairness/askGreedily.ts', [url, greed], 1)
          await greedy.first
          beside[greed].push(await askModestly(url))
          print(`    greedy: ${JSON.stringify(await greedy.ask('outcomes'))}`)
          await greedy.stop()
          await sleep(500)
        }
      }
      print(
        `  ${quotas}: alone p50 ${formatSpread(spread(alone.map(({ p50 }) => p50)), 1)} ms, p99 ${formatSpread(spread(alone.map(({ p99 }) => p99)), 1)} ms`
      )
      for (const greed of ['batches', 'unread'] as const) {
        const ratios = spread(beside[greed].map(({ p99 }, round) => p99 / (alone[round]?.p99 ?? 0)))
        print(
          `  beside ${greed}: p50 ${formatSpread(spread(beside[greed].map(({ p50 }) => p50)), 1)} ms, p99 ${formatSpread(spread(beside[greed].map(({ p99 }) => p99)), 1)} ms, ${formatSpread(ratios, 2)} times`
        )
        for (const { outcomes } of beside[greed]) print(`    modest: ${JSON.stringify(outcomes)}`)
      }
      results[quotas] = { alone, beside }
    } finally {
      await server.stop()
    }
  }
  return results
}

/** Sends pages of each modest project at fixed moments. */
async function askModestly(url: string): Promise<Round> {
  const latencies: number[] = []
  const outcomes: Record<string, number> = {}
  const pending: Promise<void>[] = []
  const beganMs = performance.now()
  const times = Math.floor((warmUpMs + measureMs) / askEveryMs)
  for (let time = 0; time < times; time++) {
    for (const [index, project] of modestProjects.entries()) {
      const dueMs = beganMs + time * askEveryMs + (index * askEveryMs) / modestProjects.length
      const aheadMs = dueMs - performance.now()
      if (aheadMs > 0) await sleep(aheadMs)
      const ask = async () => {
        const outcome = await askOnce(url, project, accountAt((time * 9 + index) % figures.accounts))
        if (time * askEveryMs < warmUpMs) return
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        if (outcome === '200') latencies.push(performance.now() - dueMs)
      }
      pending.push(ask())
    }
  }
  await Promise.all(pending)
  latencies.sort((a, b) => a - b)
  const at = (part: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0
  return { p50: at(0.5), p99: at(0.99), outcomes }
}

async function askOnce(url: string, project: string, address: string): Promise<string> {
  const answer = await fetch(`${url}/evm-chain`, {
    method: 'POST',
    headers: headersOf(project),
    body: historyOf(address, 20)
  }).catch(() => undefined)
  await answer?.arrayBuffer().catch(() => {})
  return answer === undefined ? 'cut' : String(answer.status)
}

/** Headers of a call of one of the projects of the server. */
export function headersOf(project: string): Record<string, string> {
  return {
    authorization: `Basic ${btoa(`${project}:key-of-${project}`)}`,
    'content-type': 'application/json'
  }
}

/** The request for the newest records of an account, or for all of them. */
function historyOf(address: string, limit?: number): string {
  const params = limit === undefined ? [address] : [address, { limit }]
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_getTransactionsByAddress', chainId, params })
}

/** What the greedy process sends. */
export const greed = {
  connections: greedyConnections,
  unreadHistories,
  batch: (from: number) =>
    `[${Array.from({ length: 100 }, (_, index) => historyOf(accountAt((from + index) % figures.accounts), 20)).join()}]`,
  history: historyOf(whale)
}
