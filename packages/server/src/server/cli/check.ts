import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { allNodeChecks } from '../../features/all.ts'
import { plural } from '../../platform/plural.ts'
import { checkDeep } from '../check/checkDeep.ts'
import { type PlacedFinding, runLooks, wordFinding } from '../check/findings.ts'
import { listLooks } from '../check/listLooks.ts'
import { loadConfig } from '../config/config.ts'
import { createDeepProgress } from './deepProgress.ts'
import { alignColumns } from './terminal.ts'

const failedExit = 1
/** Bounds on one call, on the sample of one node, and on everything together. */
const nodeTimeoutMs = 10_000
const wholeTimeoutMs = 30_000

/**
 * `chain-data check`: everything that the configuration names is checked as the server would use it. Nothing is
 * written; with `deep` damage is reported to the server that indexes. Exit code 0 when all is well (there may be warnings),
 * 1 when something failed, 2 for a wrong configuration.
 */
export async function check(options: { config?: string; deep?: boolean; json?: boolean }): Promise<void> {
  const config = await loadConfig(options.config)
  const { stderr } = process
  if (stderr.isTTY) stderr.write('Checking ...\n')
  const looked = await runLooks(listLooks(config, nodeTimeoutMs, allNodeChecks), {
    timeoutMs: wholeTimeoutMs
  })
  const findings = [...looked, ...(options.deep ? await checkDeep(config, createDeepProgress(stderr)) : [])]
  const ok = findings.every(({ state }) => state !== 'error')
  const report = { ok, version: packageFile.version, nodeVersion: process.versions.node, findings }
  // A check that hangs, such as at a name, must not keep the process once all is said.
  process.stdout.write(`${options.json ? JSON.stringify(report) : formatCheck(findings)}\n`, () =>
    process.exit(ok ? 0 : failedExit)
  )
}

/** A table with one line for each finding, the waivers as a configuration takes them, and a line that counts. */
function formatCheck(findings: readonly PlacedFinding[]): string {
  const lines = findings.map(finding => {
    const node = finding.origin === undefined ? '' : `${finding.origin}: `
    return [finding.state, finding.place, finding.check, `${node}${wordFinding(finding)}`]
  })
  const waivers = findings.flatMap(({ place, waivers = [] }) => {
    const entries = waivers.map(waiver => `  ${JSON.stringify(waiver)}`).join(',\n')
    return entries && `\nFor ${place}, if the chain is known for it:\n"waivers": [\n${entries}\n]\n`
  })
  const count = (wanted: PlacedFinding['state']) => findings.filter(({ state }) => state === wanted).length
  const sum = `${count('ok')} ok, ${plural(count('warning'), 'warning')}, ${plural(count('error'), 'error')}`
  return [alignColumns(lines), ...waivers.filter(Boolean), sum].join('\n')
}
