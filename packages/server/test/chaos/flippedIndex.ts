import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, HoldingCandidate, StoreWriter } from '@chain-data/index'
import { buildChain, commitChain, hashOf, people, poolTransaction } from '@chain-data/index/test'

export const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }

const plans = (count: number, fork: string) =>
  Array.from({ length: count }, (_, block) =>
    Array.from({ length: 3 }, (_, i) => ({
      name: `${fork} ${block}/${i}`,
      parties: [0, 1, 3].map(step => person(block + 2 * i + step)),
      candidates: [candidate(block, i)]
    }))
  )

function person(n: number): Address {
  return people[n % people.length] ?? '0x'
}

function candidate(block: number, i: number): HoldingCandidate {
  const base = { owner: person(block + i), contract: person(block * 3 + i + 1) }
  return i === 0
    ? { ...base, standard: 'erc20' }
    : { ...base, standard: 'erc721', tokenId: BigInt(block * 1_000 + i) }
}

const kept = buildChain(plans(60, 'a'))
const removed = buildChain(plans(4, 'b'), { parent: kept.at(-1)!.ref, fork: 'b' })
const newest = buildChain(plans(6, 'c'), { parent: kept.at(-1)!.ref, fork: 'c' })

/** What may be asked of the index that {@link fillIndex} fills. */
export const questions = {
  hashes: [
    ...[...kept, ...removed, ...newest].flatMap(({ transactions }) =>
      transactions.map(each => each.transaction.hash)
    ),
    hashOf('nowhere'),
    hashOf('nowhere either')
  ],
  blocks: Array.from({ length: kept.length + newest.length + 2 }, (_, number) => number)
}

/** Fills an index with something in each of its tables. */
export async function fillIndex(writer: StoreWriter): Promise<void> {
  await commitChain(writer, kept)
  await writer.markBackfilled()
  await commitChain(writer, removed)
  await writer.rollbackTo(kept.at(-1)!.ref)
  // Runs are merged meanwhile, where there are enough.
  await sleep(1_500)
  for (const block of newest) await commitChain(writer, [block])
  const present = Array.from({ length: 12 }, (_, n) =>
    poolTransaction(`pending ${n}`, [person(n), person(n + 3)])
  )
  await writer.updatePool({ present, seenAtSeconds: 5, headAfter: newest.at(-1)!.ref.number })
  await writer.updatePool({
    present: present.slice(2),
    seenAtSeconds: 6,
    headAfter: newest.at(-1)!.ref.number
  })
  await writer.markSettled()
  await writer.report({ phase: 'following', head: newest.at(-1)!.ref.number, poolCovered: true })
}
