import { chainPresets, devRoots } from '../../model/chainPresets.ts'
import {
  type RecomputedParts,
  type RootVerification,
  rootParts,
  type VerifyMode
} from '../../model/rootParts.ts'

interface ChainChoice {
  readonly chainId: number
  readonly verify: VerifyMode
  readonly preset: boolean
  readonly dev: boolean
}

/** Chooses which parts of which blocks are held against their headers when they are stored; `undefined` for none. */
export function chooseRoots(chain: ChainChoice): RootVerification | undefined {
  const recomputable = recomputableParts(chain)
  if (chain.verify === 'basic' || recomputable.parts.length === 0) return undefined
  return { ...recomputable, blocks: chain.verify === 'roots' ? 'all' : 'head' }
}

/**
 * Returns the parts of a chain's blocks that can be recomputed; none where its encoding is not known. With `verify: "roots"`, a
 * chain of which nothing is known counts as encoded like Ethereum.
 */
export function recomputableParts({ chainId, verify, preset, dev }: ChainChoice): RecomputedParts {
  // A copy of a public chain has its id, and the transactions of a development node.
  if (dev) return { parts: devRoots }
  const { roots, olderRoots } = (preset && chainPresets.get(chainId)) || {}
  if (roots === undefined) return { parts: verify === 'roots' ? rootParts : [] }
  return { parts: roots, ...(olderRoots && { older: olderRoots }) }
}
