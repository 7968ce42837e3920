import { chainPresets, devRoots } from '../../model/chainPresets.ts'
import { type RootVerification, rootParts, type VerifyMode } from '../../model/rootParts.ts'

/**
 * Chooses which parts of which blocks are held against their headers.
 * @returns `undefined` for none. With `verify: "roots"`, a chain of which nothing is known counts as encoded like Ethereum.
 */
export function chooseRoots({
  chainId,
  verify,
  preset,
  dev
}: {
  readonly chainId: number
  readonly verify: VerifyMode
  readonly preset: boolean
  readonly dev: boolean
}): RootVerification | undefined {
  if (verify === 'basic') return undefined
  // A copy of a public chain has its id, and the transactions of a development node.
  const known = dev ? devRoots : preset ? chainPresets.get(chainId)?.roots : undefined
  if (verify === 'roots') return { parts: known ?? rootParts, blocks: 'all' }
  return known === undefined ? undefined : { parts: known, blocks: 'head' }
}
