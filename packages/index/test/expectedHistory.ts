import type { Address, ConfirmedTransaction, IndexedBlock } from '../src/model/evm.ts'
import type { BlockEvents } from '../src/port/audit.ts'

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

/** What a store that holds exactly these blocks must say that they do to an account besides its transactions. */
export function expectedEvents(blocks: readonly IndexedBlock[], address: Address): readonly BlockEvents[] {
  return blocks.flatMap(({ ref, events = [] }) =>
    events
      .filter(account => account.address === address)
      .map(account => ({ blockNumber: ref.number, events: account.events }))
  )
}
