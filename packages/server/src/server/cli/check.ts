import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { checkDeep } from '../check/checkDeep.ts'
import { type PlacedFinding, runLooks, wordFinding } from '../check/findings.ts'
import { listLooks } from '../check/listLooks.ts'
import { loadConfig } from '../config/config.ts'
import { createDeepProgress } from './deepProgress.ts'
import { alignColumns, clearRest } from './terminal.ts'

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
  const show = (text: string) => stderr.isTTY && stderr.write(`\r${text}${clearRest}`)
  const looked = await runLooks(listLooks(config, nodeTimeoutMs), {
    timeoutMs: wholeTimeoutMs,
    onProgress: (done, all) => show(`checked ${done} of ${all}`)
  })
  const findings = [...looked, ...(options.deep ? await checkDeep(config, createDeepProgress(stderr)) : [])]
  show('')
  const ok = findings.every(({ state }) => state !== 'error')
  const report = { ok, version: packageFile.version, nodeVersion: process.versions.node, findings }
  // A check that hangs, such as at a name, must not keep the process once all is said.
  process.stdout.write(`${options.json ? JSON.stringify(report) : formatCheck(findings)}\n`, () =>
    process.exit(ok ? 0 : failedExit)
  )
}

/** A table with one line for each finding, the waivers as a configuration takes them, and a line that counts. */
function formatCheck(findings: readonly PlacedFinding[]): string {
  const lines = findings.map(finding => [finding.state, finding.place, finding.check, wordFinding(finding)])
  const waivers = findings.flatMap(({ place, waivers = [] }) => {
    const entries = waivers.map(waiver => `  ${JSON.stringify(waiver)}`).join(',\n')
    return entries === ''
      ? []
      : ['', `For ${place}, if the chain is known for it:`, `"waivers": [\n${entries}\n]`, '']
  })
  const count = (state: PlacedFinding['state'], word: string) => {
    const number = findings.filter(finding => finding.state === state).length
    return `${number} ${word}${number === 1 ? '' : 's'}`
  }
  const sum = `${count('ok', 'ok').replace(/s$/, '')}, ${count('warning', 'warning')}, ${count('error', 'error')}`
  return [alignColumns(lines), ...waivers, sum].join('\n')
}
