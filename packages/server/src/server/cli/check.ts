import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { checkDeep } from '../check/checkDeep.ts'
import { type PlacedFinding, runLooks } from '../check/findings.ts'
import { listLooks } from '../check/listLooks.ts'
import { loadConfig } from '../config/config.ts'
import { createDeepProgress } from './deepProgress.ts'
import { alignColumns, clearRest, oneLine } from './terminal.ts'

const failedExit = 1
/** Bounds on one call, on the sample of one node, and on everything together. */
const nodeTimeoutMs = 10_000
const wholeTimeoutMs = 30_000

/**
 * `chain-data check`: everything that the configuration names is looked at as the server would use it. Nothing is
 * written; with `deep` damage is reported to the server that indexes. Exit code 0 when all is well (there may be warnings), 1 when something failed, 2 for a wrong configuration.
 */
export async function check({
  config: file,
  deep,
  json
}: {
  readonly config?: string
  readonly deep?: boolean
  readonly json?: boolean
}): Promise<void> {
  const config = await loadConfig(file)
  const progress = createProgress()
  const looked = await runLooks(listLooks(config, nodeTimeoutMs, progress.onBlock), {
    timeoutMs: wholeTimeoutMs,
    onProgress: progress.onLook
  })
  const found = deep ? await checkDeep(config, createDeepProgress(process.stderr)) : []
  const findings = [...looked, ...found]
  if (deep && process.stderr.isTTY) process.stderr.write(`\r${clearRest}`)
  const hasFailed = findings.some(({ state }) => state === 'error')
  const { version } = packageFile
  const text = json
    ? JSON.stringify({ ok: !hasFailed, version, nodeVersion: process.versions.node, findings })
    : formatCheck(findings)
  // A look that hangs, such as at a name, must not keep the process once all is said.
  process.stdout.write(`${text}\n`, () => process.exit(hasFailed ? failedExit : 0))
}

/** Shows on a terminal how far the check is. */
function createProgress() {
  let [blocks, done, all] = [0, 0, 0]
  const show = () => {
    if (!process.stderr.isTTY) return
    const read = blocks === 0 ? '' : `, ${blocks} blocks read`
    const isOver = all > 0 && done === all
    process.stderr.write(`\r${isOver ? '' : `checked ${done} of ${all || '…'}${read}`}${clearRest}`)
  }
  return {
    onBlock() {
      blocks++
      show()
    },
    onLook(nowDone: number, nowAll: number) {
      ;[done, all] = [nowDone, nowAll]
      show()
    }
  }
}

/** A table with one line for each finding, aligned by blanks, and a line that counts them. */
function formatCheck(findings: readonly PlacedFinding[]): string {
  const lines = findings.map(({ state, place, check, origin, found, advice }) => {
    const where = origin === undefined ? '' : `${origin}: `
    const what = advice === undefined ? '' : `. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
    return [state, place, check, oneLine(`${where}${found}${what}`)]
  })
  const count = (state: PlacedFinding['state']) => findings.filter(finding => finding.state === state).length
  const [errors, warnings] = [count('error'), count('warning')]
  const sum = `${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${errors} ${errors === 1 ? 'error' : 'errors'}`
  return [alignColumns(lines), ...findings.flatMap(formatWaivers), sum].join('\n')
}

/** Writes the waivers of a chain as its configuration takes them, one a line. */
function formatWaivers({ place, waivers = [] }: PlacedFinding): readonly string[] {
  if (waivers.length === 0) return []
  const entries = waivers.map(waiver => `  ${JSON.stringify(waiver)}`)
  return ['', `For ${place}, if the chain is known for it:`, '"waivers": [', entries.join(',\n'), ']', '']
}
