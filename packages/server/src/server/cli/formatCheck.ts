import type { PlacedFinding } from './check/placedFinding.ts'

/** A table with one line for each finding, aligned by blanks, and a line that counts them. */
export function formatCheck(findings: readonly PlacedFinding[]): string {
  const rows = findings.map(({ state, place, check, origin, found, advice }) => [
    state,
    place,
    check,
    oneLine(
      `${origin === undefined ? '' : `${origin}: `}${found}${advice === undefined ? '' : `. ${upperFirst(advice)}`}`
    )
  ])
  const widths = [0, 1, 2].map(column => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  const lines = rows.map(row => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return [...lines, summary(findings)].join('\n')
}

function summary(findings: readonly PlacedFinding[]): string {
  const count = (state: PlacedFinding['state']) => findings.filter(finding => finding.state === state).length
  const errors = count('error')
  const warnings = count('warning')
  return `${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${errors} ${errors === 1 ? 'error' : 'errors'}`
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Nodes may put anything into their errors; a terminal must not obey it. */
function oneLine(value: string): string {
  return value.replace(/\p{Cc}+/gu, ' ')
}
