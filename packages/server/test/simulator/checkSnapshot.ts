import { isDeepStrictEqual } from 'node:util'
import {
  type Address,
  type Hash,
  type HoldingCandidate,
  IndexDamagedError,
  type IndexedBlock,
  type Snapshot,
  type StoreReader
} from '@chain-data/index'
import { expectedEvents, expectedHistory, gather, readHistory, readPages } from '@chain-data/index/test'
import type { SimulatedChain } from './simulatedChain.ts'

/**
 * Reads everything about one account from one snapshot, and compares it with the chain in the snapshot's range of blocks.
 *
 * @param pauseBetween - runs before each read; the index may change meanwhile, and the snapshot must not.
 * @returns what is wrong; absent: nothing is.
 * @throws {IndexDamagedError} the store calls something damaged.
 * @throws {StoreError} the snapshot has ended.
 */
export async function checkSnapshot(
  reader: StoreReader,
  chain: SimulatedChain,
  address: Address,
  pauseBetween: () => Promise<void>
): Promise<string | undefined> {
  const snapshot = await reader.openSnapshot()
  try {
    const range = await snapshot.indexedRange()
    if (range === undefined) return undefined
    const { number, hash } = range.to
    const blocks = chain.upTo(hash)
    if (blocks === undefined) return `block ${number} was never the node's`
    const problem = await checkAccount(snapshot, blocks.slice(range.from), address, pauseBetween)
    const where = `blocks ${range.from} to ${number}`
    return problem === undefined ? undefined : `${address} in ${where}: ${problem}`
  } finally {
    await snapshot.close()
  }
}

async function checkAccount(
  snapshot: Snapshot,
  blocks: readonly IndexedBlock[],
  address: Address,
  pauseBetween: () => Promise<void>
): Promise<string | undefined> {
  const expected = expectedHistory(blocks, address)
  await pauseBetween()
  if (!isDeepStrictEqual(await readHistory(snapshot, address), expected)) return 'another history'
  await pauseBetween()
  if (!isDeepStrictEqual(await readPages(snapshot, address, 2), expected)) return 'other pages'
  await pauseBetween()
  if ((await snapshot.countHistory(address, 1_000)) !== expected.length) return 'another count'
  if (!isDeepStrictEqual(await gather(snapshot.accountEvents(address)), expectedEvents(blocks, address))) {
    return 'other events'
  }
  await pauseBetween()
  // An audit names what it misses, where other reads throw.
  for await (const { missing } of snapshot.auditedRecords(address)) {
    const [first] = missing
    const block = first?.position.blockNumber
    if (block !== undefined) throw new IndexDamagedError({ part: 'record', block }, `lost: ${first?.part}`)
  }
  await pauseBetween()
  const found = (await gather(snapshot.holdingCandidates(address))).map(keyOf).sort()
  const candidates = [...new Set(candidatesOf(blocks, address).map(keyOf))].sort()
  if (!isDeepStrictEqual(found, candidates)) return `${found.length} candidates, not ${candidates.length}`
  await pauseBetween()
  const mined = new Set<Hash>(blocks.flatMap(each => each.transactions.map(one => one.transaction.hash)))
  if ((await snapshot.pending(address)).some(({ hash }) => mined.has(hash))) return 'a mined one is pending'
  for (const { hash, blockNumber, index } of expected) {
    const at = await snapshot.lookUpHash(hash)
    const isFound =
      at.kind === 'confirmed' && at.position.blockNumber === blockNumber && at.position.index === index
    if (!isFound) return `${hash} is ${at.kind}`
  }
  return undefined
}

function candidatesOf(blocks: readonly IndexedBlock[], address: Address): readonly HoldingCandidate[] {
  return blocks
    .flatMap(({ transactions }) => transactions)
    .flatMap(({ candidates }) => candidates)
    .filter(({ owner }) => owner === address)
}

function keyOf({ contract, standard, tokenId, lastTokenId }: HoldingCandidate): string {
  return `${contract} ${standard} ${tokenId} ${lastTokenId}`
}
