/**
 * Words the difference between a node and an index of the same chain id, with the next step; follows the name of the node.
 *
 * @param found - genesis block of the node's chain.
 * @param indexed - that of the index.
 */
export function describeOtherGenesis(chainId: number, found: string, indexed: string): string {
  return (
    `serves another chain than the index (genesis ${found} / ${indexed}): use another node or store, ` +
    `or run \`chain-data reset ${chainId}\` to index anew`
  )
}
