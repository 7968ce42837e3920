import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { clusterOfChainId, clusterOfGenesis } from '../../nodes/solana/clusters.ts'
import { createSolanaNodes } from '../../nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { displayText } from '../../platform/displayText.ts'
import { createNftSources } from '../../solana/nftSources/createNftSources.ts'
import type { Config } from '../config/config.ts'
import { answeredSince, type Findings, judge, judgeHead, okIf, tryNode } from './findings.ts'
import type { NodeReport } from './nodeReport.ts'

type SolanaCluster = Config['chains']['solana'][number]

/** As `checkEvmNode`. @param timeoutMs - bound on everything that is asked. */
export async function checkSolanaNode(
  { chainId, dev, commitment, mplCore }: SolanaCluster,
  endpoint: NodeEndpoint,
  timeoutMs: number
): Promise<NodeReport> {
  const limits = { deadlineMs: Date.now() + timeoutMs }
  const nodes = { rpcUrls: [endpoint], maxAttempts: 2, timeoutMs: timeoutMs / 2 }
  const openRpc = () => createSolanaRpc({ nodes: createSolanaNodes(nodes), commitment })
  const rpc = openRpc()
  /** Asks for what not every node has: a slot without a block has no time, and old transactions may be gone. */
  const ask = (method: string, params: readonly unknown[]) =>
    rpc.call(method, params, limits).catch(() => undefined)
  try {
    const genesisHash = String(await rpc.call('getGenesisHash', [], limits))
    const sentMs = performance.now()
    const { slot } = await rpc.getBalance(TOKEN_PROGRAM, limits)
    const took = answeredSince(sentMs, endpoint)
    const known = clusterOfGenesis(genesisHash)
    const expected = dev ? undefined : clusterOfChainId(chainId)
    const [version, time, address, ...others] = await Promise.all([
      ask('getVersion', []),
      ask('getBlockTime', [slot]),
      readPayer(ask),
      tryNode('accounts', 'error', async () => {
        // The calls of holdings, for an account that owns no tokens.
        await rpc.getMultipleAccounts([TOKEN_PROGRAM, TOKEN_2022_PROGRAM], limits)
        await rpc.getTokenAccountsByOwner(TOKEN_2022_PROGRAM, TOKEN_PROGRAM, limits)
        return judge`accounts | ok | | token accounts and accounts are read`
      }),
      mplCore ? checkNftSource('mplCore', { openRpc, mplCore, dasUrl: null }, timeoutMs) : []
    ])
    const core = (version as { 'solana-core'?: unknown } | null | undefined)?.['solana-core']
    const client = typeof core === 'string' ? `, solana-core ${displayText(core).slice(0, 40)}` : ''
    const name = known?.name ?? `genesis ${displayText(genesisHash).slice(0, 10)}…`
    const found = `${name}${client}, answers ${took}`
    const cluster = judge`
      cluster | error | ${expected !== undefined && expected !== known} | ${found} | chain id ${chainId} stands for ${expected?.name}: mend chainId or the URL, or set "dev": true for a development cluster
      cluster | ${okIf((known?.chainId ?? chainId) === chainId)} | | ${found} | callers expect chain id ${known?.chainId} for ${known?.name}; this one is served as ${chainId}
    `
    const isTimed = typeof time === 'number'
    const head = isTimed ? judgeHead(`slot ${slot}`, time) : judge`head | ok | | slot ${slot}`
    const findings = [cluster, head, ...others].flat()
    const isDevNode = known === undefined && clusterOfChainId(chainId) !== undefined
    return { findings, genesisHash, height: slot, isDevNode, ...(address !== undefined && { address }) }
  } catch (error) {
    return { findings: [{ check: 'cluster', state: 'error', ...describeNodeFailure(error) }] }
  }
}

/** Reads who has paid for the newest transaction of the token program; absent where the node keeps none. */
async function readPayer(ask: (method: string, params: readonly unknown[]) => Promise<unknown>) {
  const found = await ask('getSignaturesForAddress', [TOKEN_PROGRAM, { limit: 1 }])
  const signature = (found as readonly { signature: string }[] | undefined)?.[0]?.signature
  if (signature === undefined) return undefined
  const options = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' }
  const answer = await ask('getTransaction', [signature, options])
  const paid = answer as { transaction: { message: { accountKeys: readonly string[] } } } | null | undefined
  return paid?.transaction.message.accountKeys[0]
}

/** Checks that the endpoint answers as one of the Digital Asset Standard. @throws {ConfigError} the URL cannot be used. */
export function checkDas(dasUrl: string, timeoutMs: number): Promise<Findings> {
  const openRpc = () => {
    throw new Error('compressed NFTs are not read from nodes')
  }
  return checkNftSource('das', { openRpc, mplCore: false, dasUrl }, timeoutMs)
}

function checkNftSource(
  check: string,
  from: Omit<Parameters<typeof createNftSources>[0], 'onChange'>,
  timeoutMs: number
): Promise<Findings> {
  return tryNode(check, 'error', async () => {
    const errors: unknown[] = []
    const [source] = createNftSources({ ...from, onChange: (_, error) => errors.push(error) })
    // A source takes at most half of what is left.
    const leftMs = timeoutMs * 2
    const limits = { signal: AbortSignal.timeout(leftMs), deadlineMs: Date.now() + leftMs }
    await source?.({ accountAddress: TOKEN_2022_PROGRAM, ...limits })
    if (errors.at(-1) !== undefined) throw errors.at(-1)
    return judge`${check} | ok | | assets are listed`
  })
}
