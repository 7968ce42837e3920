/** A family of chains of whose blocks something cannot be recomputed here. */
const families: readonly (readonly [why: string, chainIds: readonly number[]])[] = [
  [
    'it is built on the OP stack, and no recorded block shows that it encodes its blocks as OP Mainnet does',
    [130, 204, 252, 480, 1135, 1868, 34_443, 57_073, 60_808, 747_474, 7_777_777]
  ],
  ['deposits have fields that those of the OP stack lack', [5000]],
  ['transactions before block 22,207,817 (type 0x78) have hashes that do not follow from them', [42_161]],
  [
    'it is built on Arbitrum Nitro with changes, and no recorded block shows how it encodes its blocks',
    [33_139]
  ],
  ['state syncs are outside of the roots, or in them since a fork', [109, 137, 80_002]],
  ['the hash of a block does not follow from its header, and its roots are zero', [324, 2741]],
  ['messages of the parent chain (0x7e) are encoded otherwise than deposits of the OP stack', [534_352]],
  ['no recorded block shows its headers, or its receipts with a base fee', [42_220]],
  ['the hash of a block is the one of the consensus, which does not follow from its header', [988, 2201]],
  ['the hash of a block covers the milliseconds of its timestamp, which no answer shows', [945]],
  ['transactions and headers have forms of their own', [8217]],
  ['headers have fields of their own', [43_113, 43_114]],
  ['no recorded block shows how it encodes its blocks', [998]],
  ['headers name the receipts root of an empty block, and hashes of the consensus', [25, 338, 2222]],
  ['headers are made by a network that is not built of them', [295, 296, 1_313_161_554]]
]

const reasons = new Map(families.flatMap(([why, chainIds]) => chainIds.map(chainId => [chainId, why])))

/**
 * Says what of a chain's blocks cannot be recomputed from what a node answers.
 * @param isPartial - A part of its newest blocks cannot be.
 * @returns absent: everything can be.
 */
export function describeUnknownEncoding(chainId: number, isPartial: boolean): string | undefined {
  return reasons.get(chainId) ?? (isPartial ? 'no recorded block shows how it encodes its blocks' : undefined)
}
