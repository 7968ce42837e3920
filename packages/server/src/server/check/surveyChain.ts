import { urlOf } from '../../model/nodeEndpoint.ts'
import type { Waiver } from '../../model/waivableChecks.ts'
import type { Config } from '../config/config.ts'
import { checkEvmNode } from './checkEvmNode.ts'
import { checkTls } from './checkSettings.ts'
import { checkSolanaNode } from './checkSolanaNode.ts'
import { type Findings, judge, type Look, originOf, type PlacedFinding, runLooks } from './findings.ts'
import type { NodeChecks, NodeReport } from './nodeReport.ts'
import { compareSamples } from './sampleBlocks.ts'

/** The nodes of a chain, as they were found. */
export interface ChainSurvey {
  readonly reports: readonly NodeReport[]
  readonly findings: readonly PlacedFinding[]
  /** What its blocks would have to be allowed, on every node; empty for a chain that keeps all checks, or whose preset knows. */
  readonly waivers: readonly Waiver[]
}

type EvmChain = Config['chains']['evm'][number]
type Chain = EvmChain | Config['chains']['solana'][number]

/** A node that takes longer than so many times the bound of a call is given up. */
const patience = 2.5

/**
 * Checks all nodes of a chain, and compares them.
 * @param timeoutMs - bound on a call, and on reading a sample of blocks.
 * @param checks - those of the features, of EVM nodes.
 */
export async function surveyChain(
  chain: Chain,
  place: string,
  timeoutMs: number,
  checks: readonly NodeChecks[]
): Promise<ChainSurvey> {
  const isEvm = 'startBlock' in chain
  // Heads read one after the other differ by a block or two; slots go by in 0.4 s.
  const maxLag = isEvm ? 10 : 150
  const reports: NodeReport[] = chain.rpcUrls.map(() => ({ findings: [] }))
  const looks = chain.rpcUrls.flatMap((endpoint, at) =>
    looksAt(urlOf(endpoint), `${place}.rpcUrls[${at}]`, async () => {
      const checked = isEvm
        ? checkEvmNode(chain, endpoint, timeoutMs, checks)
        : checkSolanaNode(chain, endpoint, timeoutMs)
      reports[at] = await checked
      return (await checked).findings
    })
  )
  const found = await runLooks(looks, { timeoutMs: patience * timeoutMs })
  const first = reports.find(({ genesisHash }) => genesisHash !== undefined)?.genesisHash
  const newest = Math.max(...reports.map(({ height = 0 }) => height))
  const { wrong, waivers } = compareSamples(reports.map(({ sample = [] }) => sample))
  const names = waivers.map(({ check: name }) => name).join(', ')
  const compared = reports.flatMap(({ genesisHash = first, height = newest }, at) => {
    const node = `${place}.rpcUrls[${at}]`
    return judge`
      ${node}: genesis | error | ${genesisHash !== first} | has another genesis block than the nodes before it, ${genesisHash?.slice(0, 10)}… | it serves another chain with the same id: take it out
      ${node}: lag | warning | ${newest - height > maxLag} | is ${newest - height} behind the newest of the nodes | wait until it has caught up, or take it out
      ${node}: receipts | error | ${wrong.has(at)} | breaks checks in blocks that another node gives sound | take it out, and waive nothing for it
    `
  })
  const broken = judge`
    ${place}.waivers: waivers | error | ${names !== ''} | blocks break ${names} on every node that gave them | if the chain is known for it, add the waivers printed for it; else take other nodes
  `.map(finding => ({ ...finding, waivers }))
  const judged = isEvm ? checks.flatMap(each => each.judgeNodes(chain, place, reports)) : []
  const others = [...compared, ...broken, ...judged].map(finding => ({ place, ...finding }))
  // A report that comes after the deadline changes nothing.
  return { reports: [...reports], findings: [...found, ...others], waivers }
}

/** Lists the checks of a URL: what it serves, and that this does not cross the internet for everyone to read. */
export function looksAt(url: string, place: string, run: () => Promise<Findings>): readonly Look[] {
  const origin = originOf(url)
  return [
    { place, origin, run },
    { place, origin, run: () => checkTls(url) }
  ]
}
