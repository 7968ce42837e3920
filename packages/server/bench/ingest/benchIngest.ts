import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Postgres, startPostgres } from '@chain-data/index/test'
import { id } from 'ethers'
import type { Listening, Usage } from '../http/messages.ts'
import { formatSpread, type Spread } from '../http/spread.ts'
import { startChild } from '../http/startChild.ts'
import { callNode } from './callNode.ts'
import { type Compared, type Contestant, compareRates, ratio } from './compareRates.ts'
import { createCeiling, createOurs, createPonder, type Node, openFolder } from './contestants.ts'
import { createDatabases } from './createDatabases.ts'
import { chainFigures, planChain } from './planChain.ts'
import { playChain } from './playChain.ts'
import { preparePonder } from './preparePonder.ts'
import { prepareRecording } from './prepareRecording.ts'
import { readTransactions } from './recording.ts'
import { startBenchAnvil } from './startBenchAnvil.ts'

const rounds = 3
/** Blocks that the anvil has, and that Ponder reads of the recording: it needs longer for these than others for all. */
const liveBlocks = 150
const ponderBlocks = 200
/** Ponder leaves so many blocks below the head for later, when they are final. */
const ponderFinality = 30

/** As PostgreSQL comes, but for the memory it may use: what is committed survives a loss of power. */
export const durable = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  shared_buffers: '256MB',
  max_wal_size: '2GB'
}

/**
 * Fills indexes from a recorded chain and from an anvil; README.md beside this file says what is timed.
 * @param latencyMs - of the recorded node's answers; above 0 the anvil is left out.
 */
export async function benchIngest(print: (line: string) => void, latencyMs = 0): Promise<object> {
  const recording = await prepareRecording(print)
  const ponder = await preparePonder(print)
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  const sendersFile = join(temporary, 'senders.json')
  writeFileSync(sendersFile, JSON.stringify(planChain().senders.map(({ address }) => address)))
  const postgres = await startPostgres({ settings: durable })
  const setup = { temporary, sendersFile, postgres, ponderFolder: ponder.folder, print }
  try {
    const replayed = await onRecording(setup, recording, latencyMs)
    const live = latencyMs > 0 ? {} : await onAnvil(setup, recording)
    return {
      dataset: chainFigures,
      latencyMs,
      rounds,
      ponder: { version: ponder.version, blocks: ponderBlocks },
      postgres: durable,
      replayed,
      live: { blocks: liveBlocks, ...live }
    }
  } finally {
    await postgres.stop()
    rmSync(temporary, { recursive: true, force: true })
  }
}

interface Setup {
  readonly temporary: string
  readonly sendersFile: string
  readonly postgres: Postgres
  readonly ponderFolder: string
  readonly print: (line: string) => void
}

interface Results {
  readonly compared: readonly Compared[]
  /** Of our rates to others', within a round. */
  readonly ratios: Readonly<Record<string, Spread>>
}

async function onRecording(setup: Setup, recording: string, latencyMs: number): Promise<Results> {
  const { temporary, postgres, print } = setup
  const replay =
    latencyMs > 0
      ? startChild('../remote/serveRemote.ts', [
          recording,
          String(chainFigures.lastBlock),
          String(latencyMs),
          '0'
        ])
      : startChild('../ingest/serveRecording.ts', [recording])
  try {
    const { url } = (await replay.first) as Listening
    print(`  recorded bytes, ${latencyMs} ms late, ${chainFigures.lastBlock} blocks; Ponder: ${ponderBlocks}`)
    const described = await describeNode(url)
    const node: Node = { ...described, cpuMs: async () => (await replay.ask<Usage>('usage')).cpuMs }
    const ours = [
      createOurs('ours, SQLite', node, openFolder(temporary)),
      createOurs('ours, PostgreSQL', node, createDatabases(postgres))
    ]
    const order = await orderOf(setup, node, ponderBlocks)
    const transactions = { ...order, subject: 'transactions' as const }
    const ponders = [
      ...ponderOfTransfers(setup, order),
      createPonder('Ponder transactions, PostgreSQL', transactions, createDatabases(postgres))
    ]
    return await compare({ node, trialBlocks: 200, ours, ponders, print })
  } finally {
    await replay.stop()
  }
}

/** The node is what all wait for here, so that one store and one subject are enough. */
async function onAnvil(setup: Setup, recording: string): Promise<Results> {
  const { temporary, print } = setup
  const anvil = await startBenchAnvil()
  try {
    print(`  anvil, ${liveBlocks} blocks`)
    await playChain(anvil.url, planChain(), readTransactions(recording, liveBlocks - 1))
    const node = await describeNode(anvil.url)
    const ours = [createOurs('ours, SQLite', node, openFolder(temporary))]
    const order = await orderOf(setup, node, liveBlocks - ponderFinality)
    const ponders = ponderOfTransfers(setup, order)
    return await compare({ node, trialBlocks: 20, ours, ponders, print })
  } finally {
    await anvil.stop()
  }
}

type Order = Parameters<typeof createPonder>[1]

async function orderOf({ ponderFolder, sendersFile }: Setup, { url }: Node, lastBlock: number) {
  const transfers = await countTransfers(url, lastBlock)
  return { folder: ponderFolder, nodeUrl: url, lastBlock, sendersFile, transfers }
}

/** Counts the transfers of ERC-20, as Ponder does: those of ERC-721 have the same first topic and one topic more. */
async function countTransfers(url: string, lastBlock: number): Promise<number> {
  const range = { fromBlock: '0x0', toBlock: `0x${lastBlock.toString(16)}`, topics: [transferTopic] }
  const logs = (await callNode(url, 'eth_getLogs', range)) as readonly {
    readonly topics: readonly string[]
  }[]
  return logs.filter(({ topics }) => topics.length === 3).length
}

const transferTopic = id('Transfer(address,address,uint256)')

function ponderOfTransfers({ postgres }: Setup, order: Omit<Order, 'subject'>): readonly Contestant[] {
  const transfers: Order = { ...order, subject: 'transfers' }
  return [
    createPonder('Ponder transfers, PGlite', transfers),
    createPonder('Ponder transfers, PostgreSQL', transfers, createDatabases(postgres))
  ]
}

/** How far a node has come. */
export async function describeNode(url: string): Promise<Node> {
  const { number, hash } = (await callNode(url, 'eth_getBlockByNumber', 'latest', false)) as {
    readonly number: string
    readonly hash: string
  }
  const lastBlock = Number(number)
  return { url, lastBlock, lastHash: hash, transfers: await countTransfers(url, lastBlock) }
}

interface Comparison {
  readonly node: Node
  readonly trialBlocks: number
  readonly ours: readonly Contestant[]
  readonly ponders: readonly Contestant[]
  readonly print: (line: string) => void
}

/** Each of ours is held against the ceiling and against each of Ponder's. */
async function compare({ node, trialBlocks, ours, ponders, print }: Comparison): Promise<Results> {
  const ceiling = await createCeiling(node, trialBlocks, print)
  try {
    const others = [ceiling.contestant, ...ponders]
    const compared = await compareRates([...ours, ...others], rounds, print)
    const find = ({ name }: Contestant) => compared.find(one => one.name === name)
    const ratios: Record<string, Spread> = {}
    for (const one of ours) {
      for (const other of others) {
        const name = `${one.name} / ${other.name}`
        const of = ratio(find(one), find(other))
        ratios[name] = of
        print(`  ${name}: ${formatSpread(of, 2)}`)
      }
    }
    return { compared, ratios }
  } finally {
    await ceiling.child.stop()
  }
}
