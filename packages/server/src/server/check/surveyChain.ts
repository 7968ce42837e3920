import { type NodeEndpoint, urlOf } from '../../model/nodeEndpoint.ts'
import type { Waiver } from '../../model/waivableChecks.ts'
import { withDeadline } from '../../platform/concurrency/deadline.ts'
import type { Config } from '../config/config.ts'
import { checkEvmNode, type NodeReport } from './checkEvmNode.ts'
import { checkTls } from './checkSettings.ts'
import { checkSolanaNode } from './checkSolanaNode.ts'
import { type Findings, judge, judgeFailure, originOf, type PlacedFinding } from './findings.ts'
import { compareSamples } from './sampleBlocks.ts'

/** The nodes of a chain, as they were found. */
export interface ChainSurvey {
  /** One for each node. */
  readonly reports: readonly NodeReport[]
  readonly findings: readonly PlacedFinding[]
  /** What its blocks would have to be allowed, on every node; empty for a chain that keeps all checks, or whose preset knows. */
  readonly waivers: readonly Waiver[]
}

type EvmChain = Config['chains']['evm'][number]
type Chain = EvmChain | Config['chains']['solana'][number]

/** A node that is not checked after so many times the bound of a call is given up; the others are shown all the same. */
const patience = 2.5

/**
 * Checks all nodes of a chain, and compares them.
 *
 * @param place - of the chain in the configuration.
 * @param timeoutMs - bound on a call to a node, and on reading the sample of its blocks.
 */
export async function surveyChain(chain: Chain, place: string, timeoutMs: number): Promise<ChainSurvey> {
  const isEvm = 'startBlock' in chain
  // Heads read one after the other differ by a block or two; slots go by in 0.4 s.
  const maxLag = isEvm ? 10 : 150
  const check = async (endpoint: NodeEndpoint): Promise<NodeReport> =>
    isEvm ? checkEvmNode(chain, endpoint, timeoutMs) : checkSolanaNode(chain, endpoint, timeoutMs)
  const nodes = await Promise.all(
    chain.rpcUrls.map(async (endpoint, at) => {
      const url = urlOf(endpoint)
      const tls = checkTls(url)
      const report = await withDeadline({ timeoutMs: patience * timeoutMs }, () => check(endpoint)).catch(
        (error): NodeReport => ({ findings: judgeFailure(error) })
      )
      const node = { place: `${place}.rpcUrls[${at}]`, origin: originOf(url) }
      const findings = [...report.findings, ...(await tls)].map(finding => ({ ...node, ...finding }))
      return { report, node, findings }
    })
  )
  const reports = nodes.map(({ report }) => report)
  const first = reports.find(({ genesisHash }) => genesisHash !== undefined)?.genesisHash
  const newest = Math.max(...reports.map(({ height = 0 }) => height))
  const { wrong, waivers } = compareSamples(reports.map(({ sample = [] }) => sample))
  const names = waivers.map(({ check: name }) => name).join(', ')
  const compared = nodes.flatMap(({ report: { genesisHash = first, height = newest }, node }, at) =>
    judge`
      genesis | error | ${genesisHash !== first} | has another genesis block than the nodes before it, ${genesisHash?.slice(0, 10)}… | it serves another chain with the same id: take it out
      lag | warning | ${newest - height > maxLag} | is ${newest - height} behind the newest of the nodes | wait until it has caught up, or take it out
      receipts | error | ${wrong.has(at)} | breaks checks in blocks that another node gives sound | take it out, and waive nothing for it
    `.map(finding => ({ place: node.place, ...finding }))
  )
  const broken = judge`
    waivers | error | ${names !== ''} | blocks break ${names} on every node that gave them | if the chain is known for it, add the waivers printed for it; else take other nodes
  `.map(finding => ({ place: `${place}.waivers`, ...finding, waivers }))
  const older = (isEvm ? judgeDeepHistory(chain, reports) : []).map(finding => ({
    place: `${place}.deepHistory`,
    ...finding
  }))
  const findings = [...nodes.flatMap(node => node.findings), ...compared, ...broken, ...older]
  return { reports, findings, waivers }
}

/** Reports that no node gives the history that `deepHistory` asks for. Tokens are found by logs, which all nodes give. */
function judgeDeepHistory({ deepHistory, startBlock }: EvmChain, reports: readonly NodeReport[]): Findings {
  if (deepHistory === 'off' || startBlock === 0) return []
  const isNone = reports.every(({ olderHistory }) => olderHistory === 'none')
  const isState = reports.every(({ olderHistory }) => olderHistory === 'none' || olderHistory === 'state')
  return judge`
    deepHistory | warning | ${isNone} | no node can give older history: none lists the transactions of an address or has old states, so histories begin at the first indexed block | take an archive node, or one with trace_filter or ots_searchTransactionsBefore (docs/deep-history.md), or set an earlier startBlock; holdings are complete all the same
    deepHistory | warning | ${deepHistory === 'strict' && isState} | it is "strict", and no node lists the transactions of an address: what is found from old states lacks receipts of no value that log nothing, so all older history is refused | take a node with trace_filter or ots_searchTransactionsBefore (docs/deep-history.md), or set deepHistory to "node", which answers and names what is lacking
  `
}
