import type { MethodContext } from './MethodContext.ts'

/**
 * The parts of the chain that a call is about.
 *
 * @throws {Error} a bug: only chains that an endpoint serves get as far as a method.
 */
export function chainOf<Chain>(chains: ReadonlyMap<number, Chain>, { chainId }: MethodContext): Chain {
  const chain = chainId === undefined ? undefined : chains.get(chainId)
  if (chain === undefined) throw new Error(`no parts for chain ${chainId}`)
  return chain
}
