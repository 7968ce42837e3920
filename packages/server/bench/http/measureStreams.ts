import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadFigures, LoadOrder, Usage } from './messages.ts'
import { type Child, startChild } from './startChild.ts'

const MiB = 2 ** 20
/** Pages that are asked for beside the streams. */
const pagesPerSecond = 50
const sampleMs = 100
/** Time in which the buffers of unread answers fill. */
const fillMs = 6_000

interface StreamsOptions {
  readonly url: string
  readonly server: Child
  readonly generator: Child
  /** Requests for pages of many accounts. */
  readonly pages: readonly string[]
  /** Request for the whole history. */
  readonly whole: string
  readonly rows: number
  readonly print: (line: string) => void
}

/** Whole histories, read as fast as they come and not at all, with pages beside them. */
export async function measureStreams(options: StreamsOptions) {
  const beside = startChild('generateLoad.ts', [], 1)
  const unread = startChild('holdUnread.ts', [], 1)
  try {
    const alone = await askPages(beside, options, 3_000)
    const streams = [await measureRead(beside, options, 1), await measureRead(beside, options, 4)]
    const batch = await measureBatch(options)
    const neverRead = [await measureUnread(unread, options, 1), await measureUnread(unread, options, 100)]
    for (const { readers, rowsPerSecond, grownMiB, pages } of streams) {
      options.print(
        `  ${readers} whole histories of ${options.rows} read at once: ${Math.round(rowsPerSecond)} rows/s, memory grew by ${grownMiB.toFixed(0)} MiB (goal: at most 50), pages beside them p50 ${pages.latencyMs.p50.toFixed(1)} ms, p99 ${pages.latencyMs.p99.toFixed(1)} ms (alone ${alone.latencyMs.p50.toFixed(1)}, ${alone.latencyMs.p99.toFixed(1)})`
      )
    }
    options.print(`  a batch with 3 whole histories: memory grew by ${batch.grownMiB.toFixed(0)} MiB`)
    for (const { callers, grownMiB } of neverRead) {
      options.print(
        `  ${callers} callers that never read: memory grew by ${grownMiB.toFixed(0)} MiB${callers === 1 ? ' (goal: at most 16)' : ''}`
      )
    }
    return { alone, streams, batch, neverRead }
  } finally {
    await Promise.all([beside.stop(), unread.stop()])
  }
}

async function measureRead(beside: Child, options: StreamsOptions, readers: number) {
  const pages = askPages(beside, options, 8_000)
  const { figures, grownMiB } = await whileWatched(options.server, () =>
    options.generator.ask<LoadFigures>(onceOrder(options.url, options.whole, readers))
  )
  requireWhole(figures, readers)
  return { readers, rowsPerSecond: options.rows * figures.perSecond, grownMiB, figures, pages: await pages }
}

async function measureBatch(options: StreamsOptions) {
  const body = `[${Array(3).fill(options.whole).join()}]`
  const { figures, grownMiB } = await whileWatched(options.server, () =>
    options.generator.ask<LoadFigures>(onceOrder(options.url, body, 1))
  )
  requireWhole(figures, 1)
  return { grownMiB, figures }
}

async function measureUnread(unread: Child, options: StreamsOptions, callers: number) {
  const { grownMiB } = await whileWatched(options.server, async () => {
    await unread.ask({ url: options.url, body: options.whole, connections: callers })
    await sleep(fillMs)
  })
  await unread.ask('release')
  await sleep(1_000)
  return { callers, grownMiB }
}

function askPages(beside: Child, { url, pages }: StreamsOptions, measureMs: number): Promise<LoadFigures> {
  const order: LoadOrder = {
    url,
    bodies: pages,
    arrivals: { kind: 'open', perSecond: pagesPerSecond },
    connections: 64,
    warmUpMs: 500,
    measureMs
  }
  return beside.ask<LoadFigures>(order)
}

function onceOrder(url: string, body: string, connections: number): LoadOrder {
  return { url, bodies: [body], arrivals: { kind: 'once' }, connections, warmUpMs: 0, measureMs: 0 }
}

function requireWhole({ outcomes }: LoadFigures, readers: number): void {
  if (outcomes[200] !== readers) throw new Error(`of ${readers} streams: ${JSON.stringify(outcomes)}`)
}

/** Runs `work`, and tells by how much the server's resident memory grew at most. */
async function whileWatched<T>(server: Child, work: () => Promise<T>) {
  const before = await server.ask<Usage>('usage')
  let mostBytes = before.rssBytes
  let isDone = false
  const watching = (async () => {
    while (!isDone) {
      mostBytes = Math.max(mostBytes, (await server.ask<Usage>('usage')).rssBytes)
      await sleep(sampleMs)
    }
  })()
  try {
    const figures = await work()
    return { figures, grownMiB: (mostBytes - before.rssBytes) / MiB }
  } finally {
    isDone = true
    await watching
  }
}
