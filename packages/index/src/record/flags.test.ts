import { expect, it } from 'vitest'
import { transactionFields } from '../model/transactionFields.ts'
import { operationsFlag, transfersFlag } from './RecordParts.ts'

it.each(['confirmed', 'pending'] as const)('gives each flag of %s records a bit of its own', form => {
  const flags = transactionFields
    .filter(field => field.flag !== 0 && (field.in === 'both' || field.in === form))
    .map(({ flag }) => flag as number)
  if (form === 'confirmed') flags.push(transfersFlag, operationsFlag)
  flags.sort((one, other) => one - other)
  expect(flags).toEqual(
    form === 'confirmed' ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : [1, 2, 4, 8, 128, 256, 512]
  )
})
