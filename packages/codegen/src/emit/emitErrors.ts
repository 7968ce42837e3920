import { nameOf, type ServiceDocument } from '../document.ts'
import { docstring, literal } from './typeScript.ts'

/** `errors.gen.ts`: the error table by reason, and which data each reason carries. */
export function emitErrors(document: ServiceDocument): string {
  const cases = Object.entries(document['x-errors'])
  const rows = cases.map(([reason, { code, httpStatus, message, retryable, when, remedy }]) => {
    const row = literal({ reason, code, httpStatus, message, retryable }, '  ')
    return `${docstring(`${when} ${remedy}`, '  ')}\n  ${reason}: ${row}`
  })
  const data = cases.map(
    ([reason, { data, message }]) => `${docstring(`With *${message}*.`, '  ')}\n  ${reason}: ${nameOf(data)}`
  )
  const codes = [...new Set(cases.map(([, { code }]) => code))].filter(code =>
    cases.every(([, entry]) => entry.code !== code || entry.retryable)
  )
  const reasons = cases.filter(([, { retryable, code }]) => retryable && !codes.includes(code))
  const imports = [...new Set(cases.map(([, { data }]) => nameOf(data)))].sort()
  return `import type { ${imports.join(', ')} } from './types.gen.ts'

/**
 * Every error case, by its stable reason. \`httpStatus\` is that of a single request; inside a batch it
 * is always 200. \`retryable\`: the same request may succeed later.
 */
export const errors = {
${rows.join(',\n')}
} as const

/** The codes whose every case is retryable: what a code alone says. */
export const retryableCodes: readonly number[] = ${literal(codes)}

/** The retryable reasons of other codes. With the codes above, all that a caller needs who must stay small. */
export const retryableReasons: readonly string[] = ${literal(reasons.map(([reason]) => reason))}

/** \`error.data\` of each case. */
export interface ErrorDataOf {
${data.join('\n')}
}
`
}
