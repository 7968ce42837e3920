import { setTimeout as sleep } from 'node:timers/promises'
import { createWebSocketHeads } from '../../nodes/evm/webSocketHeads.ts'
import { type Logger, silentLogger } from '../../platform/logger.ts'
import type { Config } from '../config/config.ts'
import { checkEvmNode } from './checkEvmNode.ts'
import { checkDas, checkSolanaNode } from './checkSolanaNode.ts'
import { type Finding, failure, type Look, lookAt, ok, placeFindings, warning } from './findings.ts'

/** What was found out about one node. */
interface NodeReport {
  readonly findings: readonly Finding[]
  /** Absent when it did not show it. */
  readonly genesisHash?: string
  /** Newest block or slot; absent when it did not show it. */
  readonly height?: number
}

/** A node that is further behind is told of; heads asked one after the other differ by a block or two. */
const maxLagBlocks = 10
/** Slots go by in 0.4 s. */
const maxLagSlots = 150

/** One look for each URL of each chain, and one for each chain whose nodes have to agree. */
export function checkChains({ chains }: Config, timeoutMs: number): readonly Look[] {
  const bounds = { nowSeconds: Math.floor(Date.now() / 1_000), timeoutMs }
  const evm = chains.evm.flatMap((chain, index) => {
    const place = `chains.evm[${index}]`
    return [
      ...lookAtNodes(chain.rpcUrls, place, maxLagBlocks, url => checkEvmNode(chain, { url, ...bounds })),
      ...chain.wsUrls.map((url, at) =>
        lookAt(`${place}.wsUrls[${at}]`, () => checkWebSocket(url, chain.chainId, timeoutMs), url)
      )
    ]
  })
  const solana = chains.solana.flatMap((chain, index) => {
    const place = `chains.solana[${index}]`
    const { dasUrl } = chain
    return [
      ...lookAtNodes(chain.rpcUrls, place, maxLagSlots, url => checkSolanaNode(chain, { url, ...bounds })),
      ...(dasUrl === null ? [] : [lookAt(`${place}.dasUrl`, () => checkDas(chain, timeoutMs), dasUrl)])
    ]
  })
  return [...evm, ...solana]
}

/** Each node by itself, then all together: they have one genesis block, and should be at about the same height. */
function lookAtNodes(
  urls: readonly string[],
  place: string,
  maxLag: number,
  check: (url: string) => Promise<NodeReport>
): readonly Look[] {
  const nodes = urls.map((url, at) => ({ url, place: `${place}.rpcUrls[${at}]`, report: check(url) }))
  return [
    ...nodes.map(node => lookAt(node.place, async () => (await node.report).findings, node.url)),
    {
      place: `${place}.rpcUrls`,
      async run() {
        const reports = await Promise.all(nodes.map(({ report }) => report.catch(() => undefined)))
        const first = reports.find(report => report?.genesisHash !== undefined)?.genesisHash
        const newest = Math.max(...reports.map(report => report?.height ?? 0))
        return reports.flatMap((report, at) =>
          placeFindings(nodes[at]?.place ?? place, compare(report, first, newest, maxLag))
        )
      }
    }
  ]
}

function compare(
  report: NodeReport | undefined,
  firstGenesis: string | undefined,
  newest: number,
  maxLag: number
): readonly Finding[] {
  const { genesisHash, height = newest } = report ?? {}
  const found: Finding[] = []
  if (genesisHash !== undefined && genesisHash !== firstGenesis) {
    const other = `has another genesis block than the nodes before it, ${genesisHash.slice(0, 10)}…`
    found.push(failure('genesis', other, 'it serves another chain with the same id: take it out'))
  }
  if (newest - height > maxLag) {
    const behind = `is ${newest - height} behind the newest of the nodes`
    found.push(warning('lag', behind, 'wait until it has caught up, or take it out'))
  }
  return found
}

const pollMs = 20

/**
 * Checks that a WebSocket takes a subscription to new blocks, as the indexer will ask for one.
 *
 * @throws {ConfigError} the URL cannot be used.
 */
async function checkWebSocket(url: string, chainId: number, timeoutMs: number): Promise<Finding> {
  let problem: string | undefined
  const logger: Logger = {
    ...silentLogger,
    warn: (_, fields) => {
      problem ??= fields?.problem?.replace(/^wsUrls\[\d+\]: /, '')
    }
  }
  const startedMs = performance.now()
  const tookMs = () => Math.round(performance.now() - startedMs)
  const heads = createWebSocketHeads({ chainId, wsUrls: [url], logger })
  try {
    while (problem === undefined && tookMs() <= timeoutMs) {
      if (heads.figures()[0]?.connected) {
        return ok('websocket', `subscribed to new blocks in ${tookMs()} ms`)
      }
      await sleep(pollMs)
    }
    const advice = 'new blocks are found by asking, every pollIntervalMs; check the URL, or take it out'
    return failure('websocket', `no subscription (${problem ?? 'no answer in time'})`, advice)
  } finally {
    heads.close()
  }
}
