import { labelChain } from '../../model/labelChain.ts'
import type { Waiver } from '../../model/waivableChecks.ts'
import { scrubText } from '../../platform/scrubText.ts'
import { checkEvmNode } from '../check/checkEvmNode.ts'
import { checkSolanaNode } from '../check/checkSolanaNode.ts'
import type { Finding, NodeReport } from '../check/findings.ts'
import { identifyNode, type NodeIdentity } from '../check/identifyNode.ts'
import { compareSamples } from '../check/judgeSample.ts'
import { type Activity, readEvmActivity, readSolanaActivity } from '../check/readActivity.ts'
import { type ConfigInput, parseConfig } from '../config/config.ts'
import { CommandError } from './reporting.ts'

/** A chain with the nodes that serve it, and what they offer. */
export interface SeenChain {
  readonly kind: 'evm' | 'solana'
  readonly chainId: number
  readonly name: string
  readonly nodes: readonly SeenNode[]
  /** What its blocks would have to be allowed, on every node; empty for a chain that keeps all checks, or whose preset knows. */
  readonly waivers: readonly Waiver[]
}

/** A node, as the checks found it. */
interface SeenNode extends Activity {
  readonly url: string
  readonly report: NodeReport
}

const nodeTimeoutMs = 15_000
/** Of a node without these there is no use. */
const needed = new Set(['chain', 'head', 'receipts', 'state', 'cluster', 'accounts'])

type Identity = Exclude<NodeIdentity, { kind: 'unusable' }>

/**
 * Finds out which chain each URL serves.
 *
 * @param chainIds - the chains that are meant; none: whichever they serve.
 * @returns the URLs of each chain, in the order given.
 * @throws {CommandError} naming the host of each node that is of no use, and what to do.
 */
export async function groupByChain(
  urls: readonly string[],
  chainIds: readonly number[]
): Promise<
  readonly { readonly kind: Identity['kind']; readonly chainId: number; readonly urls: readonly string[] }[]
> {
  const identities = await Promise.all(urls.map(url => identifyNode(url, nodeTimeoutMs)))
  const found = new Set(identities.map(identity => 'chainId' in identity && identity.chainId))
  /** Which of the chains a cluster may be that is not well known. */
  const left = chainIds.filter(chainId => !found.has(chainId))
  const problems: string[] = []
  const groups = new Map<number, { kind: Identity['kind']; chainId: number; urls: string[] }>()
  for (const [index, url] of urls.entries()) {
    const identity = identities[index] as NodeIdentity
    const host = hostOf(url)
    if (identity.kind === 'unusable') {
      problems.push(`${host}: ${identity.found}. ${sentence(identity.advice)}`)
      continue
    }
    const chainId = identity.chainId ?? (left.length === 1 ? left[0] : undefined)
    if (chainId === undefined) {
      problems.push(
        `${host}: it serves a Solana cluster that is not well known. Name its chain id, such as: chain-data init 103 <url>`
      )
    } else if (chainIds.length > 0 && !chainIds.includes(chainId)) {
      const meant = chainIds.map(chainId => labelChain(chainId)).join(' or ')
      problems.push(
        `${host}: it serves ${labelChain(chainId)}, expected ${meant}. Take the URL of a node of that chain`
      )
    } else {
      const group = groups.get(chainId) ?? { kind: identity.kind, chainId, urls: [] }
      group.urls.push(url)
      groups.set(chainId, group)
    }
  }
  for (const chainId of chainIds) {
    if (problems.length === 0 && !groups.has(chainId))
      problems.push(`No URL is of a node of ${labelChain(chainId)}; expected one`)
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
  return [...groups.values()]
}

/**
 * Checks the nodes of a chain as `chain-data check` does.
 *
 * @throws {CommandError} a node cannot be indexed from, or two nodes are of different chains.
 */
export async function surveyChain(
  { kind, chainId, urls }: Awaited<ReturnType<typeof groupByChain>>[number],
  print: (text: string) => void
): Promise<SeenChain> {
  const rpcUrls = [...urls]
  const chains: ConfigInput['chains'] =
    kind === 'evm'
      ? { evm: [{ chainId, rpcUrls, startBlock: 'latest', traces: 'auto' }] }
      : { solana: [{ chainId, rpcUrls }] }
  const config = parseConfig({ chains }, { mayLackProjects: true })
  const [evm] = config.chains.evm
  const [solana] = config.chains.solana
  const name = labelChain(chainId)
  const nodes = await Promise.all(
    urls.map(async (url): Promise<SeenNode> => {
      if (solana !== undefined) {
        const report = await checkSolanaNode(solana, url, nodeTimeoutMs)
        return { url, report, ...(await readSolanaActivity(url, nodeTimeoutMs)) }
      }
      const report = await checkEvmNode(evm as NonNullable<typeof evm>, url, nodeTimeoutMs)
      const head = report.height
      return {
        url,
        report,
        ...(head === undefined ? {} : await readEvmActivity({ chainId, url, head }, nodeTimeoutMs))
      }
    })
  )
  const waivers = compareSamples(
    nodes.map(({ report }) => report),
    name
  ).flatMap(finding => finding.waivers ?? [])
  // Blocks that break checks on every node are the chain's, and may be waived.
  const fatal = waivers.length === 0 ? needed : new Set([...needed].filter(check => check !== 'receipts'))
  for (const { url, report } of nodes)
    print(`\n${scrubText(url, 200)}: ${name}\n${formatFindings(report.findings)}\n`)
  const problems = nodes.flatMap(({ url, report: { findings } }) =>
    findings
      .filter(({ check, state }) => state === 'error' && fatal.has(check))
      .map(({ found, advice }) => `${hostOf(url)}: ${found}. ${sentence(advice ?? '')}`)
  )
  const [first, ...others] = nodes
  for (const { url, report } of others) {
    if (report.genesisHash !== first?.report.genesisHash) {
      problems.push(
        `${hostOf(url)}: it has another genesis block than ${hostOf(first?.url ?? '')}. Take one of them out: they serve different chains with the same id`
      )
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
  return { kind, chainId, name, nodes, waivers }
}

/** One line for each finding, with what to do where something is to be done. */
function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings
    .map(({ check, found, advice }) => {
      const what = advice === undefined ? found : `${found}. ${sentence(advice)}`
      return `  ${check.padEnd(width)}  ${what.replace(/\p{Cc}+/gu, ' ')}`
    })
    .join('\n')
}

/** Host and port of a URL: anything else in it may be a key. */
export function hostOf(url: string): string {
  return scrubText(url, 200).replace(/^[a-z]+:\/\//i, '')
}

function sentence(advice: string): string {
  return advice.charAt(0).toUpperCase() + advice.slice(1)
}
