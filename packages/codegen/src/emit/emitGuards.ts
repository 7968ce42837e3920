import { isReference, nameOf, resolve, type Schema, type ServiceDocument } from '../document.ts'
import { docstring } from './typeScript.ts'

/**
 * `guards.gen.ts`: tells pending from confirmed records by their status.
 *
 * TypeScript does not narrow a union by several literals of one member in every position; these
 * guards do.
 */
export function emitGuards(document: ServiceDocument): string {
  const union = document.components.schemas.TransactionRecord?.oneOf ?? []
  const guards = union.map(alternative => {
    if (!isReference(alternative)) throw new Error('TransactionRecord must be made of references.')
    const name = nameOf(alternative)
    const { properties, required } = resolve<Schema>(document, alternative)
    const status = properties?.status
    const listed = typeof status === 'object' ? (status.enum ?? []) : []
    const values = required?.includes('status') ? listed : [...listed, undefined]
    const test = values.map(value => `record.status === ${value}`).join(' || ')
    const description = typeof status === 'object' ? (status.description ?? '') : ''
    return `${docstring(`Whether the record is a ${name}: ${description}`)}
export function is${name.replace('Transaction', '')}<Int64 extends number | bigint | string = number>(
  record: TransactionRecord<Int64>
): record is ${name}<Int64> {
  return ${test}
}`
  })
  return `import type { ConfirmedTransaction, PendingTransaction, TransactionRecord } from './types.gen.ts'

${guards.join('\n\n')}
`
}
