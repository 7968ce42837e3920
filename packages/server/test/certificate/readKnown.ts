import { openStoreReader, type StoreLocation } from '@chain-data/index'
import { toPosition } from '@chain-data/index/record'
import { withSnapshot } from '@chain-data/index/test'

/** What an index that is whole has of each account. */
export interface Known {
  /** Accounts with the transaction. */
  partiesOf(id: number): readonly string[]
  /** Accounts with a transaction, or with events, in the block. */
  inBlock(number: number): readonly string[]
  /** Accounts with events in the block. */
  withEvents(number: number): readonly string[]
  /** Accounts with candidates for holdings. */
  readonly owners: readonly string[]
}

/** @param addresses - in lower case. */
export async function readKnown(location: StoreLocation, addresses: readonly string[]): Promise<Known> {
  const parties = new Map<number, string[]>()
  const blocks = new Map<number, Set<string>>()
  const events = new Map<number, string[]>()
  const owners: string[] = []
  const list = (map: Map<number, string[]>, key: number, address: string) =>
    map.set(key, [...(map.get(key) ?? []), address])
  const name = (block: number, address: string) =>
    blocks.set(block, (blocks.get(block) ?? new Set()).add(address))
  const reader = await openStoreReader(location, 31337)
  await withSnapshot(reader, async snapshot => {
    for (const address of addresses as readonly `0x${string}`[]) {
      for await (const { ids } of snapshot.records(address)) {
        for (const id of ids) {
          list(parties, id, address)
          name(toPosition(id).blockNumber, address)
        }
      }
      for await (const chunk of snapshot.accountEvents(address)) {
        for (const { blockNumber } of chunk) {
          list(events, blockNumber, address)
          name(blockNumber, address)
        }
      }
      for await (const { length } of snapshot.holdingCandidates(address)) {
        if (length > 0 && owners.at(-1) !== address) owners.push(address)
      }
    }
  })
  await reader.close()
  return {
    partiesOf: id => parties.get(id) ?? [],
    inBlock: number => [...(blocks.get(number) ?? [])],
    withEvents: number => events.get(number) ?? [],
    owners
  }
}
