import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Listening } from '../http/messages.ts'
import { formatSpread, type Spread, spread } from '../http/spread.ts'
import { type Child, startChild } from '../http/startChild.ts'
import type { IngestFigures, ReadFigures, ReadOrder } from '../ingest/ingestMessages.ts'
import { chainFigures } from '../ingest/planChain.ts'
import { prepareRecording } from '../ingest/prepareRecording.ts'
import { emptyBlocks, prepareEmptyChain } from './emptyChain.ts'

const rounds = 3
const fullBlocks = 600

/** What is measured: a chain behind nodes that are so far away. */
interface Case {
  readonly name: string
  readonly chain: 'empty' | 'full'
  readonly latencyMs: number
  readonly nodes: 1 | 2
  /** Requests that each node answers in a second; 0: as many as come. */
  readonly perSecond: number
}

const cases: readonly Case[] = [
  ...[0, 50, 150].map(latencyMs => plain('empty', latencyMs)),
  ...[0, 50, 150].map(latencyMs => plain('full', latencyMs)),
  { name: 'empty blocks, 50 ms, 300 requests/s', chain: 'empty', latencyMs: 50, nodes: 1, perSecond: 300 },
  {
    name: 'empty blocks, 50 ms, 300 requests/s each, two nodes',
    chain: 'empty',
    latencyMs: 50,
    nodes: 2,
    perSecond: 300
  },
  { name: 'full blocks, 50 ms, 40 requests/s', chain: 'full', latencyMs: 50, nodes: 1, perSecond: 40 },
  {
    name: 'full blocks, 50 ms, 40 requests/s each, two nodes',
    chain: 'full',
    latencyMs: 50,
    nodes: 2,
    perSecond: 40
  }
]

function plain(chain: Case['chain'], latencyMs: number): Case {
  return { name: `${chain} blocks, ${latencyMs} ms`, chain, latencyMs, nodes: 1, perSecond: 0 }
}

/** One way to fill an index. */
interface Filler {
  readonly name: string
  /** `ingestOnce.ts` of its checkout. */
  readonly script: string
}

/**
 * Fills SQLite indexes from nodes that are far away; README.md beside this file says what is timed.
 * @param other - the root of another checkout that takes turns with this one; absent: this one alone.
 * @param only - words that the name of a case must have; absent: all cases.
 */
export async function benchRemote(
  print: (line: string) => void,
  other?: string,
  only?: string
): Promise<object> {
  const folders = { empty: await prepareEmptyChain(print), full: await prepareRecording(print) }
  const script = 'packages/server/bench/ingest/ingestOnce.ts'
  const fillers: Filler[] = [{ name: 'this', script: '../ingest/ingestOnce.ts' }]
  if (other !== undefined) fillers.push({ name: 'other', script: pathToFileURL(join(other, script)).href })
  const blocksPerSecond: Record<string, Record<string, Spread>> = {}
  const firstAnswerMs: Record<string, Spread> = {}
  for (const each of cases) {
    if (only !== undefined && !each.name.includes(only)) continue
    print(`  ${each.name}`)
    const { rates, answers } = await measure(each, folders[each.chain], fillers, print)
    firstAnswerMs[each.name] = spread(answers)
    print(`    first answer after the start of the process: ${formatSpread(spread(answers))} ms`)
    blocksPerSecond[each.name] = Object.fromEntries(
      Object.entries(rates).map(([name, of]) => [name, spread(of)])
    )
    for (const [name, of] of Object.entries(rates)) print(`    ${name}: ${formatSpread(spread(of))} blocks/s`)
    for (const [name, of] of Object.entries(rates)) {
      if (name === 'this') continue
      const ratios = (rates.this ?? []).map((rate, round) => rate / (of[round] ?? Number.NaN))
      print(`    this / ${name}: ${formatSpread(spread(ratios), 2)}`)
      blocksPerSecond[each.name] = { ...blocksPerSecond[each.name], [`this / ${name}`]: spread(ratios) }
    }
  }
  return {
    dataset: { ...chainFigures, emptyBlocks, fullBlocks },
    rounds,
    blocksPerSecond,
    firstAnswerMs
  }
}

/** Lets all take turns. @returns blocks in a second, and when this one answered a history; a figure for each round. */
async function measure(
  { chain, latencyMs, nodes, perSecond }: Case,
  folder: string,
  fillers: readonly Filler[],
  print: (line: string) => void
): Promise<{ rates: Record<string, number[]>; answers: number[] }> {
  const lastBlock = chain === 'empty' ? emptyBlocks : fullBlocks
  const words = [folder, String(lastBlock), String(latencyMs), String(perSecond)]
  const remotes = Array.from({ length: nodes }, () => startChild('../remote/serveRemote.ts', words))
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  const rates: Record<string, number[]> = {}
  const answers: number[] = []
  try {
    const urls = await Promise.all(remotes.map(async ({ first }) => ((await first) as Listening).url))
    for (let round = 0; round < rounds; round++) {
      for (const { name, script } of fillers) {
        const figures = await fillOnce(script, urls, join(temporary, `${name}-${round}`), lastBlock)
        const blocks = (lastBlock / figures.backfillMs) * 1_000
        if (name === 'this') answers.push(figures.firstAnswerMs)
        rates[name] = [...(rates[name] ?? []), blocks]
        print(`    round ${round + 1}: ${name.padEnd(8)} ${blocks.toFixed(0)} blocks/s`)
      }
      if (nodes > 1) continue
      const bare = await readBare(urls[0] ?? '', lastBlock, latencyMs)
      rates.bare = [...(rates.bare ?? []), bare]
      print(`    round ${round + 1}: bare     ${bare.toFixed(0)} blocks/s`)
    }
  } finally {
    await Promise.all(remotes.map(remote => remote.stop()))
    rmSync(temporary, { recursive: true, force: true })
  }
  return { rates, answers }
}

async function fillOnce(script: string, rpcUrls: readonly string[], folder: string, lastBlock: number) {
  const settings = JSON.stringify({ rpcUrls })
  const { chainId } = chainFigures
  const child = startChild(script, [rpcUrls[0] ?? '', String(chainId), `sqlite:${folder}`, settings])
  try {
    const figures = (await child.first) as IngestFigures
    const { number } = figures.indexedTo
    if (number !== lastBlock) throw new Error(`it is at ${number}; expected ${lastBlock}`)
    return figures
  } finally {
    await child.stop()
  }
}

/** Reads blocks and receipts and parses them, so many at a time that the latency is filled. */
async function readBare(url: string, lastBlock: number, latencyMs: number): Promise<number> {
  const child: Child = startChild('../ingest/readBlocks.ts', [])
  try {
    const order: ReadOrder = { url, from: 1, to: lastBlock, concurrency: 16 + latencyMs, way: 'node:http' }
    const { ms } = await child.ask<ReadFigures>(order)
    return (lastBlock / ms) * 1_000
  } finally {
    await child.stop()
  }
}
