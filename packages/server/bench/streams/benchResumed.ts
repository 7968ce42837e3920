import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { packBlocks } from '@chain-data/index/record'
import { formatOf, sqliteIndexTables as indexTables, openSqliteReader } from '@chain-data/index/test'
import { mapConcurrently } from '../../src/platform/concurrency/permits.ts'
import { formatCursor } from '../../src/server/methods/cursor.ts'
import { chainId, keepStore } from '../http/dataset.ts'
import type { Listening, Usage } from '../http/messages.ts'
import { type Child, startChild } from '../http/startChild.ts'
import { accountAddress, createSyntheticChain, strangerAddress } from '../store/syntheticChain.ts'
import { accountsOf, ask, timeStream } from './callers.ts'

/** As many as the log holds by default, and some before them. */
const [loggedBlocks, olderBlocks, transactionsEach] = [10_000, 100, 60]
const finalAfter = 64
const resumingStreams = 100
const restartedStreams = 1_500
const measureMs = 8_000
const askEveryMs = 20

/** What streams that resume from an old cursor take, and what they cost another project; README.md beside this file says how. */
export async function benchResumed(print: (line: string) => void): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-bench-resumed-'))
  cpSync(await prepareLog(print), folder, { recursive: true })
  try {
    const oldest = await oldestCursor(folder)
    const replays = await withServer(folder, async url => {
      const quiet = () => timeStream(url, 'modest-0', [strangerAddress(1)], oldest)
      const first = await quiet()
      const warm = []
      for (let time = 0; time < 5; time++) warm.push(await quiet())
      return { first, warm: median(warm) }
    })
    print(
      `  ${loggedBlocks} blocks for a quiet address: ${ms(replays.warm)}, the first one after a start ${ms(replays.first)}`
    )
    const costs = await withServer(folder, async url => {
      await timeStream(url, 'modest-0', [strangerAddress(1)], oldest)
      const alone = await measureModest(url)
      const resuming = resumeAgainAndAgain(url, oldest)
      await sleep(1_000)
      const beside = await measureModest(url)
      await resuming.stop()
      return { alone, beside }
    })
    for (const [name, { calls, streams, outcomes }] of Object.entries({
      alone: costs.alone,
      beside: costs.beside
    })) {
      print(
        `  another project ${name}: calls p50 ${ms(calls.p50)}, p95 ${ms(calls.p95)}; new streams p50 ${ms(streams.p50)}, p95 ${ms(streams.p95)}; ${JSON.stringify(outcomes)}`
      )
    }
    const restart = await withServer(folder, async (url, server) => {
      const beganMs = performance.now()
      const levels: Promise<number>[] = []
      // All are waited for together, and opened a few at a time, as balancers do.
      await mapConcurrently(Array.from({ length: restartedStreams }), 32, (_, stream) => {
        return new Promise<void>(resolve => {
          levels.push(timeStream(url, 'greedy', accountsOf(stream), oldest, beganMs, resolve))
        })
      })
      const times = await Promise.all(levels)
      const { cpuMs } = await server.ask<Usage>('usage')
      return { median: median(times), most: Math.max(...times), cpuMs }
    })
    print(
      `  ${restartedStreams} streams after a restart: level after ${ms(restart.median)} (median), all of them after ${ms(restart.most)}; ${ms(restart.cpuMs)} of processor time of the server, its start included`
    )
    return { replays, costs, restart }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const ms = (value: number) => `${value < 100 ? value.toFixed(1) : Math.round(value)} ms`
const median = (values: readonly number[]) => partOf(values, 0.5)
const partOf = (values: readonly number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? 0

async function withServer<T>(folder: string, work: (url: string, server: Child) => Promise<T>): Promise<T> {
  const server = startChild('serveHistory.ts', [folder])
  try {
    return await work(((await server.first) as Listening).url, server)
  } finally {
    await server.stop()
  }
}

async function oldestCursor(folder: string): Promise<string> {
  const reader = await openSqliteReader(folder, chainId)
  const snapshot = await reader.openSnapshot()
  const { log, oldest } = await snapshot.changeBounds()
  await snapshot.close()
  await reader.close()
  return formatCursor({ log, position: oldest })
}

/** Streams of one project that resume, are level, and resume again: in a thread, so that reading them delays no measured call. */
function resumeAgainAndAgain(url: string, oldest: string) {
  const workerData = { url, oldest, streams: resumingStreams }
  const thread = new Worker(new URL('resumeAgain.ts', import.meta.url), { workerData })
  return { stop: () => thread.terminate() }
}

/** Sends plain calls of another project at fixed moments, and opens a stream of it now and then. */
async function measureModest(url: string) {
  const calls: number[] = []
  const streams: number[] = []
  const outcomes: Record<string, number> = {}
  const pending: Promise<unknown>[] = []
  const beganMs = performance.now()
  for (let dueMs = beganMs, time = 0; dueMs < beganMs + measureMs; dueMs += askEveryMs, time++) {
    const aheadMs = dueMs - performance.now()
    if (aheadMs > 0) await sleep(aheadMs)
    const page = [accountAddress(time), { limit: 20 }]
    const call = ask(url, 'modest-1', 'svc_getTransactionsByAddress', page).then(async answer => {
      await answer.arrayBuffer()
      outcomes[answer.status] = (outcomes[answer.status] ?? 0) + 1
      calls.push(performance.now() - dueMs)
    })
    pending.push(call)
    if (time % 10 === 0)
      pending.push(timeStream(url, 'modest-1', [accountAddress(time)]).then(took => streams.push(took)))
  }
  await Promise.all(pending)
  return {
    calls: { p50: partOf(calls, 0.5), p95: partOf(calls, 0.95) },
    streams: { p50: partOf(streams, 0.5), p95: partOf(streams, 0.95) },
    outcomes
  }
}

/** A folder with the store, written by the first call and kept for later ones: a minute. */
function prepareLog(print: (line: string) => void): Promise<string> {
  return keepStore(`chain-data-bench-resumed-format${formatOf(indexTables)}`, print, async writer => {
    await writer.markSettled()
    const chain = createSyntheticChain()
    for (let head = 0; head < olderBlocks + loggedBlocks; head++) {
      const finalized = head - finalAfter
      await writer.commitBlocks(packBlocks([chain.block(transactionsEach)]), {
        head,
        ...(finalized >= 0 && { finalized })
      })
    }
  })
}
