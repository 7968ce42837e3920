import type { Address, ConfirmedTransaction, IndexedBlock } from '../../model/evm.ts'

/** What a store that holds exactly these blocks must answer, worked out the slow and obvious way. */
export function expectedHistory(
  blocks: readonly IndexedBlock[],
  address: Address
): readonly ConfirmedTransaction[] {
  return blocks
    .flatMap(block => block.transactions)
    .filter(({ parties }) => parties.includes(address))
    .map(({ transaction }) => transaction)
    .reverse()
}
