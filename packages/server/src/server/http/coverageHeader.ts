import type { AnswerCoverage } from '../../model/coverage.ts'

/** Largest integer of a structured header (RFC 9651, section 3.3.1). */
const largestInteger = 999_999_999_999_999

/**
 * The header that says what an answer covers: a list of chain ids with parameters (RFC 9651), such as
 * `31337;from=0;to=128;transfers=0;internal=0;deep=none`.
 *
 * @returns no header where nothing was told. A chain whose numbers do not fit into such a header is left out of it.
 */
export function coverageHeader(told: readonly AnswerCoverage[] = []): Record<string, string> {
  const members = told.map(toMember).filter(member => member !== undefined)
  return members.length === 0 ? {} : { 'x-chain-data-coverage': members.join(', ') }
}

function toMember(coverage: AnswerCoverage): string | undefined {
  const { chainId, from, to, transfersFrom, internalFrom, deepHistory } = coverage
  const numbers = Object.entries({ from, to, transfers: transfersFrom, internal: internalFrom })
  const all = [chainId, ...numbers.map(([, value]) => value ?? 0)]
  if (all.some(value => !(Number.isInteger(value) && value >= 0 && value <= largestInteger))) return undefined
  const parameters = numbers
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `;${name}=${value}`)
  return `${chainId}${parameters.join('')}${deepHistory === undefined ? '' : `;deep=${deepHistory}`}`
}
