import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { type Config, findUnknownVariables } from '../config/config.ts'
import { askServer } from './askServer.ts'
import { checkChains } from './check/checkChains.ts'
import { checkMetadata } from './check/checkMetadata.ts'
import { checkReplica } from './check/checkPostgres.ts'
import { checkProjects } from './check/checkProjects.ts'
import { checkQuotaStore } from './check/checkQuotaStore.ts'
import { checkListen, checkNodeVersion, checkSettings, checkTransport } from './check/checkSettings.ts'
import { checkStore } from './check/checkStore.ts'
import { type PlacedFinding, placeFindings } from './check/placedFinding.ts'
import { type Look, runLooks } from './check/runLooks.ts'
import { formatCheck } from './formatCheck.ts'
import { readConfig } from './readConfig.ts'

const failedExit = 1
/** What one node may take, and everything together. */
const nodeTimeoutMs = 10_000
const wholeTimeoutMs = 14_000

/**
 * `chain-data check`: everything that the configuration names is looked at as the server would use it. Nothing is
 * written. Exit code 0 when all is well (there may be warnings), 1 when something failed, 2 for a wrong configuration.
 */
export async function check({
  config: file,
  json
}: {
  readonly config?: string
  readonly json?: boolean
}): Promise<void> {
  const config = await readConfig(file)
  if (config === undefined) return
  const findings = await runLooks(listLooks(config), {
    timeoutMs: wholeTimeoutMs,
    ...(process.stderr.isTTY ? { onProgress: showProgress } : {})
  })
  const hasFailed = findings.some(({ state }) => state === 'error')
  const text = json ? formatJson(findings, hasFailed) : formatCheck(findings)
  // A look that hangs, such as at a name, must not keep the process once all is said.
  process.stdout.write(`${text}\n`, () => process.exit(hasFailed ? failedExit : 0))
}

/** Everything there is to look at, in the order in which it is shown. */
export function listLooks(config: Config): readonly Look[] {
  const answer = askServer(config.listen)
  const isServed = answer.then(({ kind }) => kind === 'report')
  return [
    {
      place: 'node',
      run: async () => placeFindings('node', [checkNodeVersion(process.versions.node)])
    },
    {
      place: 'listen',
      run: async () => placeFindings('listen', await checkListen(config, await answer))
    },
    { place: 'store', run: async () => placeFindings('store', await checkStore(config, isServed)) },
    ...lookAtReplicas(config),
    { place: 'settings', run: async () => checkSettings(config, findUnknownVariables()) },
    { place: 'projects', run: () => checkProjects(config) },
    ...checkQuotaStore(config, nodeTimeoutMs),
    ...checkChains(config, nodeTimeoutMs),
    { place: 'chains', run: () => checkTransport(config) },
    ...checkMetadata(config, nodeTimeoutMs)
  ]
}

function lookAtReplicas(config: Config): readonly Look[] {
  return config.storeReplicas.map((url, index): Look => {
    const place = `storeReplicas[${index}]`
    return {
      place,
      run: async () => placeFindings(place, await checkReplica(config, config.store, url))
    }
  })
}

function formatJson(findings: readonly PlacedFinding[], hasFailed: boolean): string {
  const { version } = packageFile
  return JSON.stringify({ ok: !hasFailed, version, nodeVersion: process.versions.node, findings })
}

function showProgress(done: number, all: number): void {
  const isLast = done === all
  process.stderr.write(`\r${isLast ? '' : `checked ${done} of ${all}`}\u001b[K`)
}
