/**
 * A whole server that fills an empty index, a process of its own: `ingestOnce.ts <node URL> <chain id> <store> [settings of the chain]
 * [other settings]`. Tells `IngestFigures` as a message once it has every block of the node's.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from '../../src/server/start/createServer.ts'
import { askUntilAnswered } from '../http/askUntilAnswered.ts'
import type { IngestFigures } from './ingestMessages.ts'
import { readThreadCpu } from './readThreadCpu.ts'

const [, , rpcUrl = '', chainId = '', store = '', settings = '{}', others = '{}'] = process.argv
const resolutionMs = 10
const loop = monitorEventLoopDelay({ resolution: resolutionMs })
const lateness = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolutionMs)

process.once('disconnect', () => process.exit(0))
const createdAtMs = performance.now()
const server = await createServer({
  listen: { host: '127.0.0.1', port: 0 },
  store,
  ...JSON.parse(others),
  projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
  chains: { evm: [{ chainId: Number(chainId), rpcUrls: [rpcUrl], ...JSON.parse(settings) }] },
  log: { level: 'error' }
})
const url = await server.listen()
const status = () => {
  const [chain] = server.status()
  if (chain?.phase === 'stalled') throw new Error(`the backfill does not move: ${chain.problem}`)
  return chain
}

// News of a phase comes at once, so that a short pause between looks is all that this adds.
while (status()?.phase === 'starting') await sleep(2)
const beganAtMs = performance.now()
const firstRssBytes = process.memoryUsage().rss
const usageBefore = process.cpuUsage()
const threadsBefore = readThreadCpu()
loop.enable()
const answered = askUntilAnswered(url, Number(chainId), `0x${'1'.repeat(40)}`).then(() => performance.now())
const isWhole = () => {
  const { backfilled, indexedFrom, startBlock = 0 } = status() ?? {}
  return backfilled === true && indexedFrom !== undefined && indexedFrom <= startBlock
}
// Seldom: this process is what is measured.
while (!isWhole()) await sleep(20)
const endedAtMs = performance.now()
loop.disable()
const firstAnswerMs = await answered
const { user, system } = process.cpuUsage(usageBefore)
const threads = Object.entries(readThreadCpu() ?? {})
const threadCpuMs = Object.fromEntries(threads.map(([name, ms]) => [name, ms - (threadsBefore?.[name] ?? 0)]))
const writerWithMergesMs = (await mergeAll()) - (threadsBefore?.writer ?? 0)
const indexedTo = status()?.indexedTo
if (indexedTo === undefined) throw new Error('it is level with the node and has no block')
process.send?.({
  backfillMs: endedAtMs - beganAtMs,
  wholeMs: endedAtMs - createdAtMs,
  firstAnswerMs,
  cpuMs: (user + system) / 1000,
  ...(threadsBefore && { threadCpuMs, writerWithMergesMs }),
  loopDelayMs: {
    p50: lateness(loop.percentile(50)),
    p99: lateness(loop.percentile(99)),
    most: lateness(loop.max)
  },
  // In KiB.
  peakRssBytes: process.resourceUsage().maxRSS * 1024,
  firstRssBytes,
  indexedTo
} satisfies IngestFigures)
await server.close()

/** Waits until the writer has merged what it merges in a pause. @returns the processor time of its thread so far. */
async function mergeAll(): Promise<number> {
  let last = Number.NEGATIVE_INFINITY
  // Long enough for a busy machine, which gives the thread no time meanwhile; its reports take less than a tick.
  for (let quiet = 0; quiet < 10; ) {
    await sleep(300)
    const now = readThreadCpu()?.writer ?? 0
    quiet = now === last ? quiet + 1 : 0
    last = now
  }
  return last
}
