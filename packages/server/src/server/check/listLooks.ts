import { type Config, findUnknownVariables } from '../config/config.ts'
import { askServer } from './askServer.ts'
import { checkWebSocket } from './checkEvmNode.ts'
import { checkReplica } from './checkPostgres.ts'
import { checkListen, checkNodeVersion, checkProjects, checkSettings } from './checkSettings.ts'
import { checkDas } from './checkSolanaNode.ts'
import { checkStore } from './checkStore.ts'
import type { Look } from './findings.ts'
import type { NodeChecks } from './nodeReport.ts'
import { looksAt, surveyChain } from './surveyChain.ts'

/**
 * Lists a dry start: a check of everything that the configuration names, with the parts that the server would use, in the
 * order in which the findings are shown. Nothing is written. `timeoutMs` and `checks` are those of `surveyChain`.
 */
export function listLooks(config: Config, timeoutMs: number, checks: readonly NodeChecks[]): readonly Look[] {
  const { chains, store, storeReplicas } = config
  const answer = askServer(config.listen)
  const isServed = answer.then(({ kind }) => kind === 'report')
  const withChains = (evm: Config['chains']['evm']) => ({ ...config, chains: { ...chains, evm } })
  const shared = withChains(chains.evm.filter(chain => chain.store === null))
  const survey = (chain: Parameters<typeof surveyChain>[0], place: string): Look => {
    return { place, run: async () => (await surveyChain(chain, place, timeoutMs, checks)).findings }
  }
  return [
    { place: 'node', run: () => checkNodeVersion(process.versions.node) },
    { place: 'listen', run: async () => checkListen(config, await answer) },
    { place: 'store', run: () => checkStore(shared, isServed) },
    ...chains.evm.flatMap((chain, index) => {
      if (chain.store === null) return []
      const alone = { ...withChains([chain]), store: chain.store, storeReplicas: [] }
      return { place: `chains.evm[${index}].store`, run: () => checkStore(alone, isServed) }
    }),
    ...storeReplicas.map((url, at) => {
      return { place: `storeReplicas[${at}]`, run: () => checkReplica(config, store, url) }
    }),
    { place: 'settings', run: () => checkSettings(config, findUnknownVariables()) },
    { place: 'projects', run: () => checkProjects(config) },
    ...chains.evm.flatMap((chain, index) => {
      const place = `chains.evm[${index}]`
      const sockets = chain.wsUrls.flatMap((url, at) =>
        looksAt(url, `${place}.wsUrls[${at}]`, () => checkWebSocket(url, chain.chainId, timeoutMs))
      )
      return [survey(chain, place), ...sockets]
    }),
    ...chains.solana.flatMap((cluster, index) => {
      const place = `chains.solana[${index}]`
      const dasUrls = cluster.dasUrl === null ? [] : [cluster.dasUrl]
      const das = dasUrls.flatMap(url => looksAt(url, `${place}.dasUrl`, () => checkDas(url, timeoutMs)))
      return [survey(cluster, place), ...das]
    })
  ]
}
