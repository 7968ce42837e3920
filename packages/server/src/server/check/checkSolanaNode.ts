import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { createSolanaRpc, type SolanaRpc } from '../../nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { displayText } from '../../platform/displayText.ts'
import type { ChainDataError } from '../../platform/errors.ts'
import { createNftSources } from '../../solana/nftSources/createNftSources.ts'
import type { Config } from '../config/config.ts'
import { type Finding, judgeHead, type NodeReport, ok, tryNode, warning } from './findings.ts'

type SolanaCluster = Config['chains']['solana'][number]

/** The clusters that everybody knows, and the chain ids that they have by convention. */
const clusters: Readonly<Record<string, { readonly name: string; readonly chainId: number }>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d': { name: 'mainnet-beta', chainId: 101 },
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkPkZBG: { name: 'devnet', chainId: 103 }
}

/** Returns the name and the chain id of a well-known cluster; `undefined` for another one. */
export function knownCluster(
  genesisHash: string
): { readonly name: string; readonly chainId: number } | undefined {
  return clusters[genesisHash]
}

/**
 * Asks one node for everything that the server will ask it for, with the parts that will ask it then.
 *
 * @param timeoutMs - bound on everything that is asked.
 * @throws {ConfigError} the URL cannot be used.
 */
export async function checkSolanaNode(
  { chainId, commitment, mplCore }: SolanaCluster,
  endpoint: NodeEndpoint,
  timeoutMs: number
): Promise<NodeReport> {
  const limits = { deadlineMs: Date.now() + timeoutMs }
  const openRpc = () =>
    createSolanaRpc({ rpcUrls: [endpoint], commitment, maxAttempts: 2, timeoutMs: timeoutMs / 2 })
  const rpc = openRpc()
  try {
    const genesisHash = String(await rpc.call('getGenesisHash', [], limits))
    const sentMs = performance.now()
    const { slot } = await rpc.getBalance(TOKEN_PROGRAM, limits)
    const tookMs = Math.round(performance.now() - sentMs)
    const findings = await Promise.all([
      checkClient(rpc, chainId, genesisHash, tookMs, limits),
      checkHead(rpc, slot, limits),
      tryNode('accounts', 'error', () => checkAccounts(rpc, limits)),
      ...(mplCore ? [checkNftSource('mplCore', { openRpc, mplCore, dasUrl: null }, timeoutMs)] : [])
    ])
    return { findings, genesisHash, height: slot }
  } catch (error) {
    return { findings: [{ check: 'cluster', state: 'error', ...describeNodeFailure(error) }] }
  }
}

/** Checks that the endpoint answers as one of the Digital Asset Standard. @throws {ConfigError} the URL cannot be used. */
export function checkDas(dasUrl: string, timeoutMs: number): Promise<Finding> {
  const openRpc = () => {
    throw new Error('compressed NFTs are not read from nodes')
  }
  return checkNftSource('das', { openRpc, mplCore: false, dasUrl }, timeoutMs)
}

interface Limits {
  readonly deadlineMs: number
}

async function checkClient(
  rpc: SolanaRpc,
  chainId: number,
  genesisHash: string,
  tookMs: number,
  limits: Limits
): Promise<Finding> {
  const known = knownCluster(genesisHash)
  const version = await rpc.call('getVersion', [], limits).then(readVersion, () => '')
  const name = known?.name ?? `genesis ${displayText(genesisHash).slice(0, 10)}…`
  const found = `${name}${version === '' ? '' : `, ${version}`}, answers in ${tookMs} ms`
  if (known === undefined || known.chainId === chainId) return ok('cluster', found)
  const advice = `callers expect chain id ${known.chainId} for ${known.name}; this one is served as ${chainId}`
  return warning('cluster', found, advice)
}

function readVersion(answer: unknown): string {
  const version = (answer as Readonly<Record<string, unknown>> | null)?.['solana-core']
  return typeof version === 'string' ? `solana-core ${displayText(version).slice(0, 40)}` : ''
}

async function checkHead(rpc: SolanaRpc, slot: number, limits: Limits): Promise<Finding> {
  // A slot without a block has no time, and not every node keeps times: then only the slot is known.
  const time = await rpc.call('getBlockTime', [slot], limits).catch(() => undefined)
  return typeof time === 'number' ? judgeHead(`slot ${slot}`, time) : ok('head', `slot ${slot}`)
}

/** Makes the calls of holdings, for an account that owns no tokens. */
async function checkAccounts(rpc: SolanaRpc, limits: Limits): Promise<Finding> {
  await Promise.all([
    rpc.getMultipleAccounts([TOKEN_PROGRAM, TOKEN_2022_PROGRAM], limits),
    rpc.getTokenAccountsByOwner(TOKEN_2022_PROGRAM, TOKEN_PROGRAM, limits)
  ])
  return ok('accounts', 'token accounts and accounts are read')
}

async function checkNftSource(
  check: string,
  from: Omit<Parameters<typeof createNftSources>[0], 'onChange'>,
  timeoutMs: number
): Promise<Finding> {
  let failure: ChainDataError | undefined
  const onChange = (_: string, found: ChainDataError | undefined) => {
    failure = found
  }
  const [source] = createNftSources({ ...from, onChange })
  // A source takes at most half of what is left.
  const leftMs = timeoutMs * 2
  const limits = { signal: AbortSignal.timeout(leftMs), deadlineMs: Date.now() + leftMs }
  await source?.({ accountAddress: TOKEN_2022_PROGRAM, ...limits })
  if (failure === undefined) return ok(check, 'assets are listed')
  return { check, state: 'error', ...describeNodeFailure(failure) }
}
