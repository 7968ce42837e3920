import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { readChainId } from '../../nodes/evm/readChainId.ts'
import { clusterOfGenesis } from '../../nodes/solana/clusters.ts'
import { createSolanaNodes } from '../../nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../nodes/solana/rpc.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { NodeRpcError } from '../../platform/errors.ts'

/** The chain that a node serves, or why that could not be found out. */
export type NodeIdentity =
  | { readonly kind: 'evm'; readonly chainId: number }
  /** `chainId` is absent for a cluster that is not well known. */
  | { readonly kind: 'solana'; readonly chainId?: number }
  /** `found` begins with "it"; neither holds a key nor more of the URL than its host. */
  | { readonly kind: 'unusable'; readonly found: string; readonly advice: string }

const keyAdvice =
  'check the key: it belongs into the URL as the provider shows it, in the path (/v2/<key>), in the query (?apikey=<key>) ' +
  'or before the host for HTTP Basic (https://<user>:<password>@<host>). A node that takes its key in another header ' +
  'needs a proxy before it that adds the header'

/** Finds out which chain is served at a URL that nothing is known of. */
export async function identifyNode(endpoint: NodeEndpoint, timeoutMs: number): Promise<NodeIdentity> {
  try {
    return { kind: 'evm', chainId: await readChainId(endpoint, timeoutMs) }
  } catch (error) {
    // A node that answers, but not this: it may be one of Solana.
    const cluster = error instanceof NodeRpcError ? await readCluster(endpoint, timeoutMs) : undefined
    if (cluster !== undefined) return cluster
    const { found: text, advice } = describeNodeFailure(error)
    const found = text.replace(/^eth_chainId: (?=it )/, '')
    const { httpStatus } = (error as { context: { httpStatus?: unknown } }).context
    if (httpStatus === 401 || httpStatus === 403) return { kind: 'unusable', found, advice: keyAdvice }
    if (!(error instanceof NodeRpcError)) return { kind: 'unusable', found, advice }
    const strange = `it answers neither eth_chainId nor getGenesisHash (${found})`
    return { kind: 'unusable', found: strange, advice: 'check the path of the URL, and the key in it' }
  }
}

async function readCluster(endpoint: NodeEndpoint, timeoutMs: number): Promise<NodeIdentity | undefined> {
  const nodes = createSolanaNodes({ rpcUrls: [endpoint], maxAttempts: 2, timeoutMs })
  const rpc = createSolanaRpc({ nodes, commitment: 'confirmed' })
  try {
    const genesisHash = await rpc.call('getGenesisHash', [], { deadlineMs: Date.now() + timeoutMs })
    const chainId = clusterOfGenesis(String(genesisHash))?.chainId
    return { kind: 'solana', ...(chainId === undefined ? {} : { chainId }) }
  } catch {
    return undefined
  }
}
