import { nameOfChain } from '../../model/labelChain.ts'
import { mapProblems, type SolanaState } from '../../model/sync.ts'
import { clusterOfChainId } from '../../nodes/solana/clusters.ts'
import { createSolanaNodes } from '../../nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../nodes/solana/rpc.ts'
import { TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { withoutNextStep } from '../../nodes/upstreams/nextSteps.ts'
import { systemClock } from '../../platform/clock.ts'
import { NodeUnavailableError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'
import { createSolanaHoldings, type SolanaHoldingsReader } from '../../solana/holdings/holdings.ts'
import { createNftSources } from '../../solana/nftSources/createNftSources.ts'
import { createSlotWatch, type SlotWatch } from '../../solana/slotWatch.ts'
import type { Config } from '../config/config.ts'
import type { OpenCluster } from '../feature/Feature.ts'

/** A Solana cluster, with what only the composition of the server needs of it. */
export interface ServedCluster extends OpenCluster {
  readonly name: string | undefined
  readonly holdings: SolanaHoldingsReader
  readonly watch: SlotWatch
  /** Its state, worded for callers. */
  state(): SolanaState
}

/** Opens the nodes of all Solana clusters. Each cluster's node is watched from now on. */
export function openClusters(config: Config, logger: Logger): readonly ServedCluster[] {
  return config.chains.solana.map(settings => {
    const { chainId, dev, rpcUrls, commitment, mplCore, dasUrl } = settings
    const cluster = dev ? undefined : clusterOfChainId(chainId)
    const openNodes = () => createSolanaNodes({ rpcUrls, cluster, logger: logger.child({ chainId }) })
    const openRpc = () => createSolanaRpc({ nodes: openNodes(), commitment })
    const nodes = openNodes()
    const rpc = createSolanaRpc({ nodes, commitment })
    const nftSources = createNftSources({
      ...{ openRpc, mplCore, dasUrl },
      onChange: (source, failure) =>
        failure === undefined
          ? logger.info(`${source} answers again`, { chainId })
          : logger.warn(`${source} fails, its NFTs are missing`, { chainId, problem: failure.message })
    })
    // Any account would do: every answer of a node names its slot.
    const currentSlot = async (call: { readonly signal: AbortSignal; readonly deadlineMs: number }) =>
      (await rpc.getBalance(TOKEN_PROGRAM, call)).slot
    const watch = createSlotWatch({
      ...{ chainId, currentSlot, clock: systemClock },
      onChange: problem =>
        problem === undefined
          ? logger.info('a Solana cluster goes on', { chainId })
          : logger.warn('a Solana cluster is stalled', { chainId, problem })
    })
    const { readHoldings } = createSolanaHoldings({ rpc, nftSources })
    return {
      ...{ chainId, settings, nodes, rpc, watch, name: nameOfChain(chainId) },
      state: () => mapProblems(watch.state(), withoutNextStep),
      holdings: { readHoldings: checkAfterFailure(readHoldings, watch) },
      checkAfterFailure: read => checkAfterFailure(read, watch)
    }
  })
}

/** Has the node of a cluster checked as soon as a call fails because of it, so that the state is not told later. */
function checkAfterFailure<Query, Answer>(
  read: (query: Query) => Promise<Answer>,
  watch: Pick<SlotWatch, 'check'>
): (query: Query) => Promise<Answer> {
  return async query => {
    try {
      return await read(query)
    } catch (error) {
      const isOfNode =
        error instanceof NodeUnavailableError ||
        (error instanceof Refusal && error.reason === 'UPSTREAM_UNAVAILABLE')
      if (isOfNode) watch.check()
      throw error
    }
  }
}
