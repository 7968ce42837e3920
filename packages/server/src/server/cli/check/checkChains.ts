import type { Finding } from '../../../model/finding.ts'
import type { Config } from '../../config/config.ts'
import { checkEvmNode, type EvmNodeReport } from './checkEvmNode.ts'
import { checkDas, checkSolanaNode, type SolanaNodeReport } from './checkSolanaNode.ts'
import { checkWebSocket } from './checkWebSocket.ts'
import { placeFindings } from './placedFinding.ts'
import type { Look } from './runLooks.ts'

type EvmChain = Config['chains']['evm'][number]
type SolanaChain = Config['chains']['solana'][number]

/** A node that is further behind is told of; heads asked one after the other differ by a block or two. */
const mostLagBlocks = 10
/** Slots go by in 0.4 s. */
const mostLagSlots = 150

/** One look for each URL of each chain, and one for each chain whose nodes have to agree. */
export function checkChains({ chains }: Config, timeoutMs: number): readonly Look[] {
  const nowSeconds = Math.floor(Date.now() / 1_000)
  return [
    ...chains.evm.flatMap((chain, index) =>
      checkEvmChain(chain, `chains.evm[${index}]`, { nowSeconds, timeoutMs })
    ),
    ...chains.solana.flatMap((chain, index) =>
      checkSolanaChain(chain, `chains.solana[${index}]`, { nowSeconds, timeoutMs })
    )
  ]
}

interface Bounds {
  readonly nowSeconds: number
  readonly timeoutMs: number
}

function checkEvmChain(chain: EvmChain, place: string, bounds: Bounds): readonly Look[] {
  const { chainId, startBlock, waivers, traces } = chain
  const asked = { chainId, startBlock, waivers, traces, hasOthers: chain.rpcUrls.length > 1, ...bounds }
  const reports = chain.rpcUrls.map(url => checkEvmNode({ url, ...asked }))
  const nodes = lookAtNodes(chain.rpcUrls, reports, place)
  const sockets = chain.wsUrls.map((url, at): Look => {
    const socket = `${place}.wsUrls[${at}]`
    return {
      place: socket,
      run: async () => placeFindings(socket, [await checkWebSocket({ url, chainId, ...bounds })], url)
    }
  })
  return [...nodes, lookAtAgreement(reports, place, ({ head }) => head, mostLagBlocks), ...sockets]
}

function checkSolanaChain(chain: SolanaChain, place: string, bounds: Bounds): readonly Look[] {
  const { chainId, commitment, mplCore, dasUrl } = chain
  const reports = chain.rpcUrls.map(url => checkSolanaNode({ url, chainId, commitment, mplCore, ...bounds }))
  const nodes = lookAtNodes(chain.rpcUrls, reports, place)
  const das: readonly Look[] =
    dasUrl === null
      ? []
      : [
          {
            place: `${place}.dasUrl`,
            run: async () =>
              placeFindings(`${place}.dasUrl`, [await checkDas({ url: dasUrl, ...bounds })], dasUrl)
          }
        ]
  return [...nodes, lookAtAgreement(reports, place, ({ slot }) => slot, mostLagSlots), ...das]
}

function lookAtNodes(
  urls: readonly string[],
  reports: readonly Promise<EvmNodeReport | SolanaNodeReport>[],
  place: string
): readonly Look[] {
  return urls.map((url, at): Look => {
    const node = `${place}.rpcUrls[${at}]`
    return {
      place: node,
      run: async () => placeFindings(node, (await reports[at])?.findings ?? [], url)
    }
  })
}

interface Shown {
  readonly genesisHash?: string
}

/** Nodes of one chain have to have one genesis block, and should be at about the same height. */
function lookAtAgreement<T extends Shown>(
  reports: readonly Promise<T>[],
  place: string,
  heightOf: (report: T) => number | undefined,
  mostLag: number
): Look {
  return {
    place: `${place}.rpcUrls`,
    async run() {
      const settled = await Promise.all(reports.map(report => report.catch(() => undefined)))
      const first = settled.find(report => report?.genesisHash !== undefined)?.genesisHash
      const newest = Math.max(...settled.map(report => (report && heightOf(report)) ?? 0))
      return settled.flatMap((report, at) => {
        const node = `${place}.rpcUrls[${at}]`
        const found: Finding[] = []
        if (report?.genesisHash !== undefined && report.genesisHash !== first) {
          found.push({
            check: 'genesis',
            state: 'error',
            found: `has another genesis block than the nodes before it, ${report.genesisHash.slice(0, 10)}…`,
            advice: 'it serves another chain with the same id: take it out'
          })
        }
        const height = report && heightOf(report)
        if (height !== undefined && newest - height > mostLag) {
          found.push({
            check: 'lag',
            state: 'warning',
            found: `is ${newest - height} behind the newest of the nodes`,
            advice: 'wait until it has caught up, or take it out'
          })
        }
        return placeFindings(node, found)
      })
    }
  }
}
