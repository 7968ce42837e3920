import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { type Config, findUnknownVariables } from '../config/config.ts'
import { askServer } from './askServer.ts'
import { checkEvmNode, checkWebSocket } from './checkEvmNode.ts'
import { checkMetadata } from './checkMetadata.ts'
import { judgeDeepHistory } from './checkOffers.ts'
import { checkReplica } from './checkPostgres.ts'
import {
  checkListen,
  checkNodeVersion,
  checkProjects,
  checkSettings,
  checkTransport
} from './checkSettings.ts'
import { checkDas, checkSolanaNode } from './checkSolanaNode.ts'
import { checkStore } from './checkStore.ts'
import { type Finding, failure, type Look, listEach, type NodeReport, ok, warning } from './findings.ts'
import { compareSamples } from './judgeSample.ts'

/** A node that is further behind gets a warning; heads read one after the other differ by a block or two. */
const maxLagBlocks = 10
/** Slots go by in 0.4 s. */
const maxLagSlots = 150

/**
 * Lists a dry start: a check of everything that the configuration names, with the parts that the server would use, in the
 * order in which the findings are shown. Nothing is written.
 *
 * @param timeoutMs - bound on a call to a node, and on reading the sample of its blocks.
 * @param onBlock - called after each block of a sample.
 */
export function listLooks(config: Config, timeoutMs: number, onBlock?: () => void): readonly Look[] {
  const { chains, store, storeReplicas } = config
  const answer = askServer(config.listen)
  const isServed = answer.then(({ kind }) => kind === 'report')
  return [
    { place: 'node', run: () => checkNodeVersion(process.versions.node) },
    { place: 'listen', run: async () => checkListen(config, await answer) },
    {
      place: 'store',
      run: () =>
        checkStore(
          withChains(config, ({ store: own }) => own === null),
          isServed
        )
    },
    ...chains.evm.flatMap((chain, index) => {
      const { store: own } = chain
      if (own === null) return []
      const alone = { ...withChains(config, each => each === chain), store: own, storeReplicas: [] }
      return [{ place: `chains.evm[${index}].store`, run: () => checkStore(alone, isServed) }]
    }),
    ...storeReplicas.map((url, at) => ({
      place: `storeReplicas[${at}]`,
      run: () => checkReplica(config, store, url)
    })),
    { place: 'settings', run: async () => checkSettings(config, findUnknownVariables()) },
    { place: 'projects', run: () => checkProjects(config) },
    ...chains.evm.flatMap((chain, index) => {
      const place = `chains.evm[${index}]`
      return [
        ...listNodes(
          chain.rpcUrls,
          place,
          maxLagBlocks,
          endpoint => checkEvmNode(chain, endpoint, timeoutMs, onBlock),
          chain
        ),
        ...listEach(chain.wsUrls, `${place}.wsUrls`, url => checkWebSocket(url, chain.chainId, timeoutMs))
      ]
    }),
    ...chains.solana.flatMap((cluster, index) => {
      const place = `chains.solana[${index}]`
      const dasUrls = cluster.dasUrl === null ? [] : [cluster.dasUrl]
      return [
        ...listNodes(cluster.rpcUrls, place, maxLagSlots, endpoint =>
          checkSolanaNode(cluster, endpoint, timeoutMs)
        ),
        ...dasUrls.map(url => ({ place: `${place}.dasUrl`, url, run: () => checkDas(url, timeoutMs) }))
      ]
    }),
    { place: 'chains', run: () => checkTransport(config) },
    ...checkMetadata(config, timeoutMs)
  ]
}

function withChains(config: Config, isMeant: (chain: Config['chains']['evm'][number]) => boolean): Config {
  return { ...config, chains: { ...config.chains, evm: config.chains.evm.filter(isMeant) } }
}

/** Lists a check of each node, then one of all: they have one genesis block, and should be at about the same height. */
function listNodes(
  endpoints: readonly NodeEndpoint[],
  place: string,
  maxLag: number,
  check: (endpoint: NodeEndpoint) => Promise<NodeReport>,
  {
    deepHistory,
    startBlock
  }: Partial<Pick<Config['chains']['evm'][number], 'deepHistory' | 'startBlock'>> = {}
): readonly Look[] {
  const reports = new Map<NodeEndpoint, Promise<NodeReport>>()
  const read = (endpoint: NodeEndpoint) => {
    const report = reports.get(endpoint) ?? check(endpoint)
    reports.set(endpoint, report)
    return report
  }
  return [
    ...listEach(endpoints, `${place}.rpcUrls`, async endpoint => [
      ...(await read(endpoint)).findings,
      ...describeLimits(endpoint)
    ]),
    {
      place: `${place}.rpcUrls`,
      async run() {
        const all = await Promise.all(
          endpoints.map(endpoint => read(endpoint).catch((): NodeReport => ({ findings: [] })))
        )
        const first = all.find(({ genesisHash }) => genesisHash !== undefined)?.genesisHash
        const newest = Math.max(...all.map(({ height }) => height ?? 0))
        const compared = all.flatMap((report, at) =>
          compare(report, first, newest, maxLag).map(finding => ({
            place: `${place}.rpcUrls[${at}]`,
            ...finding
          }))
        )
        const sources = all.map(({ offers }) => offers?.olderHistory)
        const unanswered =
          deepHistory === 'off' || deepHistory === undefined || startBlock === 0
            ? []
            : judgeDeepHistory(deepHistory, sources)
        return [
          ...compared,
          ...compareSamples(all, place),
          ...unanswered.map(finding => ({ place: `${place}.deepHistory`, ...finding }))
        ]
      }
    }
  ]
}

/** Says which limits and headers of the configuration were used; never the value of a header. */
function describeLimits(endpoint: NodeEndpoint): readonly Finding[] {
  if (typeof endpoint === 'string') return []
  const { maxRequestsPerSecond, maxConcurrency, headers = {} } = endpoint
  const names = Object.keys(headers)
  const used = [
    ...(maxRequestsPerSecond === undefined ? [] : [`at most ${maxRequestsPerSecond} calls a second`]),
    ...(maxConcurrency === undefined ? [] : [`at most ${maxConcurrency} requests at the same time`]),
    ...(names.length === 0 ? [] : [`with the headers ${names.join(', ')}`])
  ]
  return used.length === 0 ? [] : [ok('limits', `asked ${used.join(', ')}`)]
}

function compare(
  { genesisHash, height }: NodeReport,
  firstGenesis: string | undefined,
  newest: number,
  maxLag: number
): readonly Finding[] {
  const found: Finding[] = []
  if (genesisHash !== undefined && genesisHash !== firstGenesis) {
    const other = `has another genesis block than the nodes before it, ${genesisHash.slice(0, 10)}…`
    found.push(failure('genesis', other, 'it serves another chain with the same id: take it out'))
  }
  if (height !== undefined && newest - height > maxLag) {
    const behind = `is ${newest - height} behind the newest of the nodes`
    found.push(warning('lag', behind, 'wait until it has caught up, or take it out'))
  }
  return found
}
