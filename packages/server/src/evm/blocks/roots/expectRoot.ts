import { toHex } from '@chain-data/index/record'
import { readHash } from '../../../nodes/evm/rawFields.ts'
import { contradiction } from '../verification/contradiction.ts'
import type { VerifiedHeader } from '../verification/verifiedBlock.ts'
import { trieRoot } from './trieRoot.ts'

type RootName = 'transactionsRoot' | 'receiptsRoot' | 'withdrawalsRoot'

/**
 * Checks that a root in a header is that of the values it commits to.
 * @throws {NodeContradictionError} naming the root and both hashes.
 */
export function expectRoot(
  { ref, raw }: Pick<VerifiedHeader, 'ref' | 'raw'>,
  name: RootName,
  values: readonly Uint8Array[]
): void {
  const stated = readHash(raw[name], `block ${ref.number}`, name)
  const computed = toHex(trieRoot(values))
  if (computed === stated) return
  const what = name.replace('Root', '')
  throw contradiction(
    ref.number,
    `${name} is ${stated}, but the root of its ${values.length} ${what} is ${computed}`
  )
}
