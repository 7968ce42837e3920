import { setTimeout as sleep } from 'node:timers/promises'
import { createEmptyWorld, createEvmDriver, evmAccount, startAnvil } from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { createPublicClient, http, webSocket } from 'viem'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { openStream, type Service } from '../../test/live/askService.ts'
import { healthOf } from '../../test/processes/leaderOf.ts'
import { credentials, startFleet } from '../../test/processes/startFleet.ts'

const chainId = 31337
const seed = 20261123
const warmUpBlocks = 20
/** The p99 of events may be so much above the one of viem. */
const goalMs = 150
const pollMs = 500

/** How both learn of a new block. */
const ways = ['websocket', 'polling'] as const

interface Way {
  readonly events: Figures
  readonly viem: Figures
  /** Of the same blocks, each event's latency minus that of viem. */
  readonly above: Figures
}

interface Figures {
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/**
 * Blocks with one transaction each, watched by `svc_watchAddresses` and by viem's `watchBlocks` at the same time; README.md beside
 * this file says how.
 */
export async function benchLive(print: (line: string) => void, blocks = 500): Promise<object> {
  const results: Partial<Record<(typeof ways)[number], Way>> = {}
  for (const way of ways) {
    const { events, viem, above } = await measure(way, blocks)
    results[way] = { events, viem, above }
    print(`  ${way}: from the node's answer to the mining call, ${blocks} blocks, p50 / p99 / most`)
    print(`    events of svc_watchAddresses ${format(events)} ms`)
    print(`    watchBlocks of viem ${format(viem)} ms`)
    print(
      `    p99 above viem's: ${(events.p99 - viem.p99).toFixed(1)} ms (goal: at most ${goalMs}); block by block ${format(above)} ms`
    )
  }
  return { seed, blocks, pollMs, goalMs, results }
}

async function measure(way: (typeof ways)[number], blocks: number): Promise<Way> {
  const anvil = await startAnvil()
  const folder = await temporaryFolder()
  const wsUrl = anvil.rpcUrl.replace('http', 'ws')
  const hears = way === 'websocket' ? { wsUrls: [wsUrl] } : {}
  const fleet = await startFleet(`sqlite:${folder.path}`, {
    ...{ chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: pollMs },
    ...hears
  })
  const connection = new AbortController()
  const socket = createPublicClient({ transport: webSocket(wsUrl) })
  const client =
    way === 'websocket'
      ? socket
      : createPublicClient({ transport: http(anvil.rpcUrl), pollingInterval: pollMs })
  try {
    const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
    const [alice, bob] = ['alice', 'bob'].map(name => evmAccount(driver.world, name).address) as [
      string,
      string
    ]
    const member = await fleet.add(true)
    await eventually('the chain is indexed', async () => (await healthOf(member))?.ready === true)
    const authorization = `Basic ${btoa(`${credentials.projectId}:${credentials.serverKey}`)}`
    const service: Service = { url: member.url, chainId, headers: { authorization } }

    const mined = new Map<number, number>()
    const byEvent = new Map<number, number>()
    const byViem = new Map<number, number>()
    const stream = await openStream(service, [alice], { signal: connection.signal })
    const reading = (async () => {
      for await (const { data } of stream) {
        const atMs = performance.now()
        const { blockNumber } = JSON.parse(data).record ?? {}
        if (blockNumber !== undefined) byEvent.set(blockNumber, atMs)
      }
    })().catch(() => {})
    const unwatch = client.watchBlocks({
      emitMissed: true,
      onBlock: ({ number }) => byViem.set(Number(number), performance.now())
    })
    // The first poll of viem finds the head as it is.
    await sleep(2 * pollMs)

    const random = createRandom(seed)
    for (let count = 0; count < warmUpBlocks + blocks; count++) {
      await driver.send({ label: `${count}`, from: 'alice', to: bob, valueWei: 1n })
      // At any moment between two polls; the transaction is in the pool first, as it is on most chains.
      await sleep(200 + random.below(pollMs))
      await driver.mine()
      mined.set(driver.world.blocks.length - 1, performance.now())
    }
    await eventually('both have seen every block', () =>
      [...mined.keys()].every(block => byEvent.has(block) && byViem.has(block))
    )
    unwatch()
    connection.abort()
    await reading
    const measured = [...mined].slice(warmUpBlocks)
    const latencies = (seen: ReadonlyMap<number, number>) =>
      measured.map(([block, atMs]) => (seen.get(block) ?? Number.NaN) - atMs)
    return {
      events: figuresOf(latencies(byEvent)),
      viem: figuresOf(latencies(byViem)),
      above: figuresOf(
        measured.map(([block]) => (byEvent.get(block) ?? Number.NaN) - (byViem.get(block) ?? 0))
      )
    }
  } finally {
    connection.abort()
    if (way === 'websocket') (await socket.transport.getRpcClient()).close()
    await fleet.end()
    await folder.remove()
    await anvil.stop()
  }
}

function figuresOf(values: readonly number[]): Figures {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), most: sorted.at(-1) ?? Number.NaN }
}

const format = ({ p50, p99, most }: Figures) => [p50, p99, most].map(ms => ms.toFixed(1)).join(' / ')
