import type { Finding } from '../../../model/finding.ts'
import { createSolanaRpc, type SolanaCommitment, type SolanaRpc } from '../../../nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../nodes/solana/solanaAddress.ts'
import { describeNodeFailure } from '../../../nodes/upstreams/upstreamError.ts'
import { displayText } from '../../../platform/displayText.ts'
import type { ChainDataError } from '../../../platform/errors.ts'
import { createNftSources } from '../../../solana/nftSources/createNftSources.ts'

/** What was found out about one node of a Solana cluster. */
export interface SolanaNodeReport {
  readonly findings: readonly Finding[]
  /** Absent when it did not show it. */
  readonly genesisHash?: string
  readonly slot?: number
}

export interface CheckSolanaNodeOptions {
  readonly url: string
  readonly chainId: number
  readonly commitment: SolanaCommitment
  readonly mplCore: boolean
  /** Of this machine, to hold the node's newest block against. */
  readonly nowSeconds: number
  /** Bound on everything that is asked. */
  readonly timeoutMs: number
}

/** The clusters that everybody knows, and the chain ids that they have by convention. */
const knownClusters: Readonly<Record<string, { readonly name: string; readonly chainId: number }>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d': { name: 'mainnet-beta', chainId: 101 },
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkPkZBG: { name: 'devnet', chainId: 103 }
}
const mostSkewSeconds = 30
const oldSlotSeconds = 300

/**
 * Asks one node for everything that the server will ask it for, with the code that will ask it then.
 *
 * @throws {ConfigError} the URL cannot be used.
 */
export async function checkSolanaNode(options: CheckSolanaNodeOptions): Promise<SolanaNodeReport> {
  const { url, commitment, chainId, mplCore, timeoutMs } = options
  const deadlineMs = Date.now() + timeoutMs
  const limits = { deadlineMs }
  const openRpc = () =>
    createSolanaRpc({ rpcUrls: [url], commitment, maxAttempts: 2, timeoutMs: timeoutMs / 2 })
  const rpc = openRpc()
  try {
    const genesisHash = String(await rpc.call('getGenesisHash', [], limits))
    const sentMs = performance.now()
    const { slot } = await rpc.getBalance(TOKEN_PROGRAM, limits)
    const tookMs = Math.round(performance.now() - sentMs)
    const findings = await Promise.all([
      checkClient(rpc, { genesisHash, chainId, tookMs, deadlineMs }),
      checkHead(rpc, slot, options, deadlineMs),
      checkAccounts(rpc, deadlineMs),
      ...(mplCore ? [checkSource('mplCore', { openRpc, mplCore: true, dasUrl: null }, timeoutMs)] : [])
    ])
    return { findings, genesisHash, slot }
  } catch (error) {
    return { findings: [{ check: 'cluster', state: 'error', ...describeNodeFailure(error) }] }
  }
}

/** Whether an endpoint answers as one of the Digital Asset Standard. @throws {ConfigError} the URL cannot be used. */
export function checkDas(options: { readonly url: string; readonly timeoutMs: number }): Promise<Finding> {
  const openRpc = () => {
    throw new Error('compressed NFTs are not read from nodes')
  }
  return checkSource('das', { openRpc, mplCore: false, dasUrl: options.url }, options.timeoutMs)
}

async function checkClient(
  rpc: SolanaRpc,
  facts: {
    readonly genesisHash: string
    readonly chainId: number
    readonly tookMs: number
    readonly deadlineMs: number
  }
): Promise<Finding> {
  const { genesisHash, chainId, tookMs, deadlineMs } = facts
  const check = 'cluster'
  const known = knownClusters[genesisHash]
  const version = await rpc.call('getVersion', [], { deadlineMs }).then(readVersion, () => '')
  const name = known?.name ?? `genesis ${displayText(genesisHash).slice(0, 10)}…`
  const found = `${name}${version === '' ? '' : `, ${version}`}, answers in ${tookMs} ms`
  if (known === undefined || known.chainId === chainId) return { check, state: 'ok', found }
  const advice = `callers expect chain id ${known.chainId} for ${known.name}; this one is served as ${chainId}`
  return { check, state: 'warning', found, advice }
}

function readVersion(answer: unknown): string {
  const version = (answer as Readonly<Record<string, unknown>> | null)?.['solana-core']
  return typeof version === 'string' ? `solana-core ${displayText(version).slice(0, 40)}` : ''
}

async function checkHead(
  rpc: SolanaRpc,
  slot: number,
  { nowSeconds }: CheckSolanaNodeOptions,
  deadlineMs: number
): Promise<Finding> {
  const check = 'head'
  // A slot without a block has no time, and not every node keeps times: then only the slot is known.
  const time = await rpc.call('getBlockTime', [slot], { deadlineMs }).catch(() => undefined)
  if (typeof time !== 'number') return { check, state: 'ok', found: `slot ${slot}` }
  const age = nowSeconds - time
  const found = age < 0 ? `slot ${slot} is from ${-age} s in the future` : `slot ${slot}, ${age} s old`
  if (age < -mostSkewSeconds) return { check, state: 'warning', found, advice: "set this machine's clock" }
  if (age > oldSlotSeconds) {
    return { check, state: 'warning', found, advice: 'the node is behind, or the clock is wrong' }
  }
  return { check, state: 'ok', found }
}

async function checkAccounts(rpc: SolanaRpc, deadlineMs: number): Promise<Finding> {
  const check = 'accounts'
  try {
    // An account that owns no tokens: the calls are what is tried.
    await Promise.all([
      rpc.getMultipleAccounts([TOKEN_PROGRAM, TOKEN_2022_PROGRAM], { deadlineMs }),
      rpc.getTokenAccountsByOwner(TOKEN_2022_PROGRAM, TOKEN_PROGRAM, { deadlineMs })
    ])
    return { check, state: 'ok', found: 'token accounts and accounts are read' }
  } catch (error) {
    return { check, state: 'error', ...describeNodeFailure(error) }
  }
}

async function checkSource(
  check: string,
  place: Omit<Parameters<typeof createNftSources>[0], 'onChange'>,
  timeoutMs: number
): Promise<Finding> {
  let failure: ChainDataError | undefined
  const [source] = createNftSources({
    ...place,
    onChange: (_, found) => {
      failure = found
    }
  })
  await source?.({
    accountAddress: TOKEN_2022_PROGRAM,
    signal: AbortSignal.timeout(timeoutMs * 2),
    // A source takes at most half of what is left.
    deadlineMs: Date.now() + timeoutMs * 2
  })
  if (failure === undefined) return { check, state: 'ok', found: 'assets are listed' }
  return { check, state: 'error', ...describeNodeFailure(failure) }
}
