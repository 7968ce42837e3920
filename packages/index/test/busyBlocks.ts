import type { Address, IndexedBlock } from '../src/model/evm.ts'
import type { MissingPart } from '../src/port/audit.ts'
import type { StoreReader } from '../src/port/store.ts'
import type { TransactionPosition } from '../src/record/transactionId.ts'
import { buildChain, type ChainStart, people } from './buildChain.ts'
import { readAudit } from './readAll.ts'

/** Blocks with a few transactions each, in which everyone has a part. */
export function busyBlocks(count: number, start: ChainStart = {}): readonly IndexedBlock[] {
  const plans = Array.from({ length: count }, (_, block) =>
    Array.from({ length: 3 }, (_, i) => ({
      name: `${start.fork ?? ''} ${block}/${i}`,
      parties: [0, 1, 3].map(step => people[(block + 2 * i + step) % people.length] ?? '0x')
    }))
  )
  return buildChain(plans, start)
}

/** The place of a transaction, and nothing else of it. */
export function positionOf({ blockNumber, index }: TransactionPosition): TransactionPosition {
  return { blockNumber, index }
}

/** Everything that an audit finds missing, by address; who misses nothing is not in it. */
export async function auditAll(reader: StoreReader): Promise<ReadonlyMap<Address, readonly MissingPart[]>> {
  const found = new Map<Address, readonly MissingPart[]>()
  for (const address of people) {
    const missing = (await readAudit(reader, address)).flatMap(chunk => chunk.missing)
    if (missing.length > 0) found.set(address, missing)
  }
  return found
}
