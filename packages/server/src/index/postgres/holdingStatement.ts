import { addressLength, candidateHeadLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { hexArrayLiteral } from './literals.ts'

/**
 * Adds the candidates that `holding` does not have yet, as one statement with its rows in it: most of them are there already,
 * and `COPY` cannot pass over those. A temporary table to copy them into first would be no quicker, and a writer that ends
 * would have to remove it before its lock is free.
 * @returns absent when there are none.
 */
export function holdingStatement({ candidates, candidateEnds }: PackedBlocks): string | undefined {
  if (candidateEnds.length === 0) return undefined
  const bytes = Buffer.from(candidates.buffer, candidates.byteOffset, candidates.length)
  const [owners, contracts, tokenIds, standards]: [string[], string[], string[], number[]] = [[], [], [], []]
  let start = 0
  for (const end of candidateEnds) {
    const [contract, standard] = [start + addressLength, start + 2 * addressLength]
    owners.push(bytes.toString('hex', start, contract))
    contracts.push(bytes.toString('hex', contract, standard))
    standards.push(bytes[standard] ?? 0)
    tokenIds.push(bytes.toString('hex', start + candidateHeadLength, end))
    start = end
  }
  const columns = [
    ...[owners, contracts, tokenIds].map(hexArrayLiteral),
    `'{${standards.join(',')}}'::smallint[]`
  ]
  return `INSERT INTO holding SELECT * FROM unnest(${columns.join(', ')}) ON CONFLICT DO NOTHING`
}
