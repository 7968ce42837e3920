import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Listening } from '../http/messages.ts'
import { formatSpread, type Spread, spread } from '../http/spread.ts'
import { startChild } from '../http/startChild.ts'
import { addressOf, busyAddress, chainFigures, newAccount, planChain } from '../ingest/planChain.ts'
import { playChain } from '../ingest/playChain.ts'
import { prepareRecording } from '../ingest/prepareRecording.ts'
import { readTransactions } from '../ingest/recording.ts'
import { startBenchAnvil } from '../ingest/startBenchAnvil.ts'
import { type Asker, createNodeAsker, createServerAsker } from './createAskers.ts'

/** A node that goes through its blocks needs longer for more of them; an index does not. */
const lastBlock = 400
const rounds = 5
const limits = [25, 100]
/** Questions of one kind in a round: this many, or as many as fit into `boundMs` where the node is slow. */
const questions = 100
const boundMs = 1_500
/** So many accounts of a kind are asked for in turn that no answer is one that the server has kept. */
const accountsOfKind = (rounds + 1) * questions
const firstColdBlock = 5

/** One kind of account and one page size. */
interface Row {
  readonly account: string
  readonly limit: number
  /** One answer; median of the rounds' medians. */
  readonly ourMs: Spread
  readonly nodeMs: Spread
  /** The node's time divided by ours, within a round. */
  readonly ratio: Spread
  /** Transactions in the two answers about the first account of the kind. */
  readonly ourTransactions: number
  readonly nodeTransactions: number
}

/** The newest transactions of an account, from our server and from its node itself; README.md says what is timed. */
export async function benchHistory(print: (line: string) => void): Promise<object> {
  const recording = await prepareRecording(print)
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  const anvil = await startBenchAnvil()
  try {
    const plan = planChain()
    await playChain(anvil.url, plan, readTransactions(recording, lastBlock - 1))
    const server = startChild('../soak/serveSoak.ts', [anvil.url, String(chainFigures.chainId), folder])
    try {
      const { url } = (await server.first) as Listening
      await untilReady(url)
      const askServer = createServerAsker(url)
      const askNode = createNodeAsker(anvil.url)
      const kinds = {
        busy: [busyAddress],
        ordinary: plan.senders.slice(0, accountsOfKind).map(({ address }) => address),
        cold: await findCold(askServer)
      }
      const rows: Row[] = []
      for (const [account, addresses] of Object.entries(kinds)) {
        for (const limit of limits) {
          const row = await measure({ account, addresses, limit, askServer, askNode })
          rows.push(row)
          print(
            `  ${account.padEnd(9)} ${String(limit).padStart(3)}  ours ${formatSpread(row.ourMs, 2)} ms, ots ${formatSpread(row.nodeMs, 2)} ms  x${formatSpread(row.ratio, 1)}  (${row.ourTransactions} and ${row.nodeTransactions} transactions)`
          )
        }
      }
      return { dataset: { ...chainFigures, lastBlock }, rounds, rows }
    } finally {
      await server.stop()
    }
  } finally {
    await anvil.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Subject {
  readonly account: string
  readonly addresses: readonly string[]
  readonly limit: number
  readonly askServer: Asker
  readonly askNode: Asker
}

async function measure({ account, addresses, limit, askServer, askNode }: Subject): Promise<Row> {
  const ours: number[] = []
  const nodes: number[] = []
  const nextForServer = inTurn(addresses)
  const nextForNode = inTurn(addresses)
  // Not counted: until compiled code is as it stays.
  await time(askServer, nextForServer, limit)
  for (let round = 0; round < rounds; round++) {
    ours.push(await time(askServer, nextForServer, limit))
    nodes.push(await time(askNode, nextForNode, limit))
  }
  const [first = ''] = addresses
  const ourHashes = await askServer(first, limit)
  const nodeHashes = await askNode(first, limit)
  return {
    ...{ account, limit },
    ourMs: spread(ours),
    nodeMs: spread(nodes),
    ratio: spread(nodes.map((ms, round) => ms / (ours[round] ?? Number.NaN))),
    ourTransactions: ourHashes.length,
    nodeTransactions: nodeHashes.length
  }
}

/** @returns the median of one round, in milliseconds. */
async function time(ask: Asker, next: () => string, limit: number): Promise<number> {
  const times: number[] = []
  const beganAtMs = performance.now()
  while (times.length < questions && performance.now() - beganAtMs < boundMs) {
    const address = next()
    const askedAtMs = performance.now()
    await ask(address, limit)
    times.push(performance.now() - askedAtMs)
  }
  return spread(times).median
}

function inTurn(addresses: readonly string[]): () => string {
  let next = 0
  return () => addresses[next++ % addresses.length] ?? ''
}

/** Accounts that one transaction touches, long before the head. */
async function findCold(ask: Asker): Promise<readonly string[]> {
  const cold: string[] = []
  for (let block = firstColdBlock; cold.length < accountsOfKind && block < lastBlock / 4; block++) {
    for (let place = 0; place < chainFigures.transactionsPerBlock; place++) {
      const address = addressOf(newAccount(block, place))
      if ((await ask(address, 2)).length === 1) cold.push(address)
    }
  }
  return cold
}

async function untilReady(url: string): Promise<void> {
  const deadlineMs = performance.now() + 120_000
  while ((await fetch(`${url}/health/ready`)).status !== 200) {
    if (performance.now() > deadlineMs) throw new Error('the server is not ready after two minutes')
    await sleep(50)
  }
}
