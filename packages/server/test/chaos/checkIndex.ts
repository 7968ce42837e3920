import { differences, readIndex } from '../support/indexHarness.ts'
import { type WalkedBlocks, walkChain } from '../support/walkChain.ts'
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
 * received on the chain, whose receiver must be a candidate for holding it.
 *
 * @param known - blocks walked before; see `walkChain`.
 */
export async function checkIndex(
  folder: string,
  chain: ChaosChain,
  known?: WalkedBlocks
): Promise<Disagreement> {
  const walked = await walkChain(chain.rpc, 0, known)
  const found = await differences(folder, walked, chain.everAddresses)
  const inChain = new Set(walked.transactions.map(({ record }) => record.hash))
  const holdings = new Set(walked.transactions.flatMap(transaction => transaction.holdings))
  await readIndex(folder, async snapshot => {
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
  })
  return {
    count: found.length,
    examples: found.slice(0, mostExamples).map(text => text.slice(0, longestExample))
  }
}
