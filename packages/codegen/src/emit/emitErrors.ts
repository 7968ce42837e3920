import { nameOf, type ServiceDocument } from '../document.ts'
import { docstring, literal } from './typeScript.ts'

/** `errors.gen.ts`: the error table by reason, and which data each reason carries. */
export function emitErrors(document: ServiceDocument): string {
  const cases = Object.entries(document['x-errors'])
  const rows = cases.map(([reason, { code, httpStatus, message, retryable, when }]) => {
    const row = literal({ reason, code, httpStatus, message, retryable }, '  ')
    return `${docstring(when, '  ')}\n  ${reason}: ${row}`
  })
  const data = cases.map(([reason, { data }]) => `  ${reason}: ${nameOf(data)}`)
  const retryable = cases.filter(([, entry]) => entry.retryable).map(([reason]) => reason)
  const codes = [...new Set(cases.map(([, { code }]) => code))].filter(code =>
    cases.every(([, entry]) => entry.code !== code || entry.retryable)
  )
  const imports = [...new Set(cases.map(([, { data }]) => nameOf(data)))].sort()
  return `import type { ${imports.join(', ')} } from './types.gen.ts'

/**
 * Every error case, by its stable reason. \`httpStatus\` is that of a single request; inside a batch it
 * is always 200. \`retryable\`: the same request may succeed later.
 */
export const errors = {
${rows.join(',\n')}
} as const

/** The reasons of the table that are retryable: all that a caller needs to know who must stay small. */
export const retryableReasons: readonly string[] = ${literal(retryable)}

/** The codes whose every case is retryable: what a code alone says. */
export const retryableCodes: readonly number[] = ${literal(codes)}

/** \`error.data\` of each case. */
export interface ErrorDataOf {
${data.join('\n')}
}
`
}
