import { type Config, findUnknownVariables } from '../config/config.ts'
import { askServer } from './askServer.ts'
import { checkChains } from './checkChains.ts'
import { checkMetadata } from './checkMetadata.ts'
import { checkReplica } from './checkPostgres.ts'
import { checkProjects } from './checkProjects.ts'
import { checkQuotaStore } from './checkQuotaStore.ts'
import { checkListen, checkNodeVersion, checkSettings, checkTransport } from './checkSettings.ts'
import { checkStore } from './checkStore.ts'
import { type Look, lookAt } from './findings.ts'

/**
 * A dry start: a check of everything that the configuration names, with the parts that the server would use, in the order
 * in which the findings are shown. Nothing is written.
 *
 * @param timeoutMs - bound on what is asked of one node.
 */
export function listLooks(config: Config, timeoutMs: number): readonly Look[] {
  const answer = askServer(config.listen)
  const isServed = answer.then(({ kind }) => kind === 'report')
  return [
    lookAt('node', () => checkNodeVersion(process.versions.node)),
    lookAt('listen', async () => checkListen(config, await answer)),
    lookAt('store', () => checkStore(config, isServed)),
    ...config.storeReplicas.map((url, index) =>
      lookAt(`storeReplicas[${index}]`, () => checkReplica(config, config.store, url))
    ),
    { place: 'settings', run: async () => checkSettings(config, findUnknownVariables()) },
    { place: 'projects', run: () => checkProjects(config) },
    ...checkQuotaStore(config, timeoutMs),
    ...checkChains(config, timeoutMs),
    { place: 'chains', run: () => checkTransport(config) },
    ...checkMetadata(config, timeoutMs)
  ]
}
