import type { Hash } from '@chain-data/index'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { readHash, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'

/** Hash and parent of a block, as one node has given them. */
export interface GivenBlock {
  readonly giver: EvmNode
  readonly hash: Hash
  readonly parentHash: Hash
}

/** The link between two blocks, as one node names it. */
interface NamedLink {
  readonly node: EvmNode
  /** Hash of the lower block. */
  readonly hash: Hash
  /** Parent of the upper block. */
  readonly parentHash: Hash
}

/**
 * Finds out which nodes are wrong about a block whose child, given by another node, has another parent, and puts these nodes
 * aside. All nodes in service are asked for both blocks. The hash that most of these answers name is taken for right; of
 * two that are named as often, the one that the first node of the configuration names for the lower block.
 *
 * @param lower, upper - the blocks as they were given; absent where that is not known.
 * @returns the names of the nodes that are wrong. None where all agree by now, or fewer than two nodes answered.
 * @remarks One batch of two calls to each node.
 */
export async function settleDispute(
  rpc: Pick<EvmUpstreams, 'onEachNode'>,
  upperNumber: number,
  { lower, upper }: { readonly lower: GivenBlock | undefined; readonly upper: GivenBlock | undefined },
  signal?: AbortSignal
): Promise<ReadonlySet<string>> {
  const links = await rpc.onEachNode('link', node => readLink(node, upperNumber), signal ? { signal } : {})
  const right = links.length < 2 ? undefined : mostNamed(links)
  if (right === undefined) return new Set()
  const wrong = new Map<string, EvmNode>()
  for (const { node, hash, parentHash } of links) {
    if (hash !== right || parentHash !== right) wrong.set(node.name, node)
  }
  if (lower !== undefined && lower.hash !== right) wrong.set(lower.giver.name, lower.giver)
  if (upper !== undefined && upper.parentHash !== right) wrong.set(upper.giver.name, upper.giver)
  // The last one in service stays there, and is best the one whose word counts most.
  for (const node of [...wrong.values()].sort((a, b) => b.position - a.position)) {
    node.putAside(`is wrong about block ${upperNumber - 1}: the other nodes name ${right}`)
  }
  return new Set(wrong.keys())
}

/** Reads the hash of the lower block and the parent of the upper one. */
async function readLink(node: EvmNode, upperNumber: number): Promise<NamedLink> {
  const heights = [upperNumber - 1, upperNumber]
  const calls = heights.map(height => ({
    method: 'eth_getBlockByNumber',
    params: [toQuantity(height), false]
  }))
  const [lower, upper] = (await node.batch(calls)).map((outcome, i) => {
    if (!outcome.ok) throw outcome.error
    return readObject(outcome.value, `block ${heights[i]}`)
  })
  return {
    node,
    hash: readHash(lower?.hash, `block ${upperNumber - 1}`, 'hash'),
    parentHash: readHash(upper?.parentHash, `block ${upperNumber}`, 'parentHash')
  }
}

function mostNamed(links: readonly NamedLink[]): Hash | undefined {
  const named = links.toSorted((a, b) => a.node.position - b.node.position)
  const counts = new Map<Hash, number>()
  // In this order, the first node's word for the lower block is the first entry, which wins a draw.
  for (const hash of [...named.map(({ hash }) => hash), ...named.map(({ parentHash }) => parentHash)]) {
    counts.set(hash, (counts.get(hash) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}
