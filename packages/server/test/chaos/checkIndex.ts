import { isDeepStrictEqual } from 'node:util'
import type { Snapshot } from '@chain-data/index'
import { partCount } from '@chain-data/index/test'
import { differences, readIndex, type StorePlace } from '../support/indexHarness.ts'
import { type WalkedBlocks, type WalkedChain, walkChain } from '../support/walkChain.ts'
import type { ChaosChain } from './createChaosChain.ts'

/** In what an index and its node disagree: `count` 0 and no examples when they do not. */
export interface Disagreement {
  readonly count: number
  readonly examples: readonly string[]
}

export const none: Disagreement = { count: 0, examples: [] }

const mostExamples = 5
const longestExample = 600

/**
 * Compares an index, level with the head, with its node: every record of every address that was ever part of anything;
 * every hash that was ever sent, which must be confirmed if and only if the chain has it; and every token that was ever
 * received on the chain, whose receiver must be a candidate for holding it; what every block did to every account besides its
 * transactions; and that the index itself reports no damage.
 *
 * @param known - blocks walked before; see `walkChain`.
 */
export async function checkIndex(
  place: StorePlace,
  chain: ChaosChain,
  known?: WalkedBlocks
): Promise<Disagreement> {
  const walked = await walkChain(chain.rpc, 0, known)
  const found = await differences(place, walked, chain.everAddresses)
  const inChain = new Set(walked.transactions.map(({ record }) => record.hash))
  const holdings = new Set(walked.transactions.flatMap(transaction => transaction.holdings))
  await readIndex(place, async snapshot => {
    for (const owner of new Set([...holdings].map(text => text.split(' ')[0]))) {
      for await (const chunk of snapshot.holdingCandidates(owner as `0x${string}`)) {
        for (const { contract, standard, tokenId } of chunk) {
          holdings.delete([owner, contract, standard, ...(tokenId === undefined ? [] : [tokenId])].join(' '))
        }
      }
    }
    for (const holding of holdings) found.push(`no candidate: ${holding}`)
    for (const hash of chain.everHashes) {
      const { kind } = await snapshot.lookUpHash(hash as `0x${string}`)
      if ((kind === 'confirmed') !== inChain.has(hash)) found.push(`${hash} is ${kind} in the index`)
    }
    found.push(...(await wrongEvents(snapshot, walked, chain.everAddresses)))
    found.push(...(await damagedParts(snapshot, new Set([...walked.addresses, ...chain.everAddresses]))))
  })
  return {
    count: found.length,
    examples: found.slice(0, mostExamples).map(text => text.slice(0, longestExample))
  }
}

async function wrongEvents(
  snapshot: Snapshot,
  { events }: WalkedChain,
  alsoAsk: Iterable<string>
): Promise<string[]> {
  const found: string[] = []
  for (const address of new Set([...events.keys(), ...alsoAsk])) {
    const wanted = events.get(address) ?? []
    const got: unknown[] = []
    for await (const chunk of snapshot.accountEvents(address as `0x${string}`)) got.push(...chunk)
    if (isDeepStrictEqual(got, wanted)) continue
    found.push(`events of ${address}: ${flat(got)} instead of ${flat(wanted)}`)
  }
  return found
}

/** Checks all blocks, the chunks of all runs, and what leads to the records of each address. */
async function damagedParts(snapshot: Snapshot, addresses: Iterable<string>): Promise<string[]> {
  const { from = 0, to } = (await snapshot.indexedRange()) ?? {}
  const damage = [
    ...(await snapshot.findDamage(from, to?.number ?? -1)),
    ...(await snapshot.findChunkDamage(0, partCount))
  ]
  const found = damage.map(each => `damaged: ${flat(each)}`)
  for (const address of addresses as Iterable<`0x${string}`>) {
    for await (const chunk of snapshot.auditedRecords(address)) {
      if (chunk.missing.length > 0) found.push(`missing of ${address}: ${flat(chunk.missing)}`)
    }
  }
  return found
}

function flat(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))
}
