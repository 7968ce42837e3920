import { allNodeChecks } from '../../features/all.ts'
import { labelChain } from '../../model/labelChain.ts'
import { hostOf } from '../../platform/nameNodes.ts'
import { originOf, wordFinding } from '../check/findings.ts'
import { identifyNode } from '../check/identifyNode.ts'
import { type ChainSurvey, surveyChain } from '../check/surveyChain.ts'
import { type ConfigInput, parseConfig } from '../config/config.ts'
import { CommandError } from './reporting.ts'
import { alignColumns } from './terminal.ts'

/** A chain, and the nodes that serve it. */
interface Group {
  readonly kind: 'evm' | 'solana'
  readonly chainId: number
  readonly name: string
  readonly urls: readonly string[]
}
export type SeenChain = Group & ChainSurvey

const nodeTimeoutMs = 15_000
/** Of a node without these there is no use. */
const needed = new Set(['chain', 'receipts', 'state', 'cluster', 'accounts', 'genesis', 'reach'])

/**
 * Finds out which chain each URL serves, and checks its nodes as `chain-data check` does.
 *
 * @param chainIds - the chains that are meant; none: whichever they serve.
 * @throws {CommandError} naming the host of each node that is of no use, and what to do.
 */
export async function surveyChains(
  urls: readonly string[],
  chainIds: readonly number[],
  print: (text: string) => void
): Promise<readonly SeenChain[]> {
  const seen: SeenChain[] = []
  for (const group of await groupByChain(urls, chainIds)) seen.push(await surveyGroup(group, print))
  return seen
}

async function groupByChain(urls: readonly string[], chainIds: readonly number[]): Promise<readonly Group[]> {
  const identities = await Promise.all(urls.map(url => identifyNode(url, nodeTimeoutMs)))
  const found = new Set(identities.map(identity => 'chainId' in identity && identity.chainId))
  /** Which of the chains a cluster may be that is not well known. */
  const [left, ...more] = chainIds.filter(chainId => !found.has(chainId))
  const meant = chainIds.map(chainId => labelChain(chainId)).join(' or ')
  const groups = new Map<number, Group>()
  const problems = identities.flatMap((identity, at) => {
    const url = urls[at] ?? ''
    if (identity.kind === 'unusable') return `${hostOf(url)}: ${wordFinding(identity)}`
    const { kind, chainId = more.length === 0 ? left : undefined } = identity
    if (chainId === undefined) {
      return `${hostOf(url)}: it serves a Solana cluster that is not well known. Name its chain id, such as: chain-data init 103 <url>`
    }
    if (chainIds.length > 0 && !chainIds.includes(chainId)) {
      return `${hostOf(url)}: it serves ${labelChain(chainId)}, expected ${meant}. Take the URL of a node of that chain`
    }
    const others = groups.get(chainId)?.urls ?? []
    groups.set(chainId, { kind, chainId, name: labelChain(chainId), urls: [...others, url] })
    return []
  })
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
  const lost = chainIds.find(chainId => !groups.has(chainId))
  if (lost !== undefined) throw new CommandError(`No URL is of a node of ${labelChain(lost)}; expected one`)
  return [...groups.values()]
}

async function surveyGroup(group: Group, print: (text: string) => void): Promise<SeenChain> {
  const { kind, chainId, name, urls } = group
  const chain = { chainId, rpcUrls: [...urls] }
  const input: ConfigInput['chains'] =
    kind === 'evm'
      ? { evm: [{ ...chain, startBlock: 'latest', traces: 'auto' }] }
      : { solana: [{ ...chain, dev: true }] }
  const { evm, solana } = parseConfig({ chains: input }, { mayLackProjects: true }).chains
  const [parsed] = [...evm, ...solana]
  if (parsed === undefined) throw new Error('one chain is surveyed')
  const survey = await surveyChain(parsed, '', nodeTimeoutMs, allNodeChecks)
  // Blocks that break checks on every node are the chain's, and may be waived.
  const isFatal = (check: string) =>
    needed.has(check) && (check !== 'receipts' || survey.waivers.length === 0)
  const problems = urls.flatMap((url, at) => {
    const findings = survey.findings.filter(({ place }) => place === `.rpcUrls[${at}]`)
    const lines = findings.map(finding => ['', finding.check, wordFinding(finding)])
    print(`\n${originOf(url)}: ${name}\n${alignColumns(lines)}\n`)
    const fatal = findings.filter(({ check, state }) => state === 'error' && isFatal(check))
    return fatal.map(finding => `${hostOf(url)}: ${wordFinding(finding)}`)
  })
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
  return { ...group, ...survey }
}
