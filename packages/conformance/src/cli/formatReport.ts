import { type CheckResult, countOf, type Report } from '../report/Report.ts'
import type { Exchange } from '../wire/Exchange.ts'

/** Most characters of a body on a screen. */
const longestBody = 600

const marks = { passed: 'passed', failed: 'FAILED', 'not-offered': 'not offered', 'not-shown': 'not shown' }

/** A report for people: the groups in numbers, then everything that did not pass, failures last. */
export function formatReport(report: Report): string {
  const { evmChain, solanaChain, accounts, results } = report
  const lines = [
    `Service   ${clean(report.baseUrl)}`,
    `EVM       ${evmChain === undefined ? 'no chain was found' : `chain ${evmChain}`}`,
    `Solana    ${solanaChain === undefined ? 'no chain was found' : `chain ${solanaChain}`}`,
    `Accounts  ${accounts.length === 0 ? 'none' : accounts.map(clean).join('\n          ')}`,
    '',
    ...formatGroups(results)
  ]
  for (const outcome of ['not-offered', 'not-shown'] as const) {
    const these = results.filter(result => result.outcome === outcome)
    if (these.length > 0) lines.push('', outcome === 'not-offered' ? 'Not offered' : 'Not shown')
    lines.push(...these.map(({ name, reason }) => `  ${name}: ${clean(reason ?? '')}`))
  }
  for (const result of results.filter(({ outcome }) => outcome === 'failed'))
    lines.push('', ...formatFailure(result))
  const failed = countOf(report, 'failed')
  const counts = `${countOf(report, 'passed')} passed, ${failed} failed, ${countOf(report, 'not-offered')} not offered, ${countOf(report, 'not-shown')} not shown`
  return [...lines, '', `${counts}, in ${report.requests} requests`, ''].join('\n')
}

/** How many checks of each group ended in which way. */
function formatGroups(results: readonly CheckResult[]): string[] {
  const groups = groupUp(results)
  const width = Math.max(0, ...[...groups.keys()].map(name => name.length))
  return [...groups].map(([name, group]) => {
    const counts = (Object.keys(marks) as (keyof typeof marks)[])
      .map(outcome => [marks[outcome], group.filter(result => result.outcome === outcome).length] as const)
      .filter(([, count]) => count > 0)
    return `${name.padEnd(width)}  ${counts.map(([mark, count]) => `${count} ${mark}`).join(', ')}`
  })
}

function groupUp(results: readonly CheckResult[]): Map<string, CheckResult[]> {
  const groups = new Map<string, CheckResult[]>()
  for (const result of results) {
    const group = groups.get(groupOf(result)) ?? []
    group.push(result)
    groups.set(groupOf(result), group)
  }
  return groups
}

/** Vectors are told apart by their folder. */
function groupOf({ name }: CheckResult): string {
  return name.slice(0, name.lastIndexOf('/'))
}

function formatFailure({ name, shows, where, reason, exchanges = [] }: CheckResult): string[] {
  return [
    `FAILED ${name}`,
    `  expected  ${shows}`,
    `  found     ${clean(reason ?? '')}`,
    `  document  ${where}`,
    ...exchanges.flatMap(formatExchange)
  ]
}

function formatExchange({ sent, received }: Exchange): string[] {
  const headers = (all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([name, value]) => clean(`${name}: ${value}`))
  return [
    `    > ${sent.verb} ${clean(sent.target)}`,
    ...headers(sent.headers).map(line => `    > ${line}`),
    ...(sent.body === undefined ? [] : [`    > ${shorten(sent.body)}`]),
    `    < ${received.status}`,
    ...headers(received.headers).map(line => `    < ${line}`),
    ...(received.text === '' ? [] : [`    < ${shorten(received.text)}`])
  ]
}

function shorten(text: string): string {
  return clean(text.length <= longestBody ? text : `${text.slice(0, longestBody)}…`)
}

/** What a stranger's service says goes to a terminal: control characters and those that reorder text are shown as such. */
function clean(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    character => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`
  )
}
