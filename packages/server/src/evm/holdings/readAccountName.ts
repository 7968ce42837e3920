import type { Address, Hex } from '@chain-data/index'
import { decodeAddress, decodeText, encodeCall } from '../state/abi.ts'
import type { CallResult, ContractCall } from '../state/contractCalls.ts'
import type { Multicall } from '../state/multicall.ts'
import { isPlainName, namehash } from './ensName.ts'
import type { IncompleteHolding } from './heldAssets.ts'
import { wordCall } from './tokenStandards.ts'

/** The primary name of an account, or the registry or resolver that it could not be read from; neither where it has no name. */
interface AccountName {
  readonly name?: string
  readonly incomplete: readonly IncompleteHolding[]
}

const nameless: AccountName = { incomplete: [] }
const unreadable = (address: Address): AccountName => ({
  incomplete: [{ address, reason: 'NAME_UNREADABLE' }]
})

/** An answer from which nothing can be concluded. */
const broken = Symbol('broken')

/** `resolver(bytes32)` of the registry */
const resolverOf = (registry: Address, node: Hex) =>
  wordCall(registry, encodeCall('0x0178b8bf', BigInt(node)))
/** `name(bytes32)` of a resolver; a longest name takes 320 bytes. */
const nameOf = (resolver: Address, node: Hex) => wordCall(resolver, encodeCall('0x691f3431', BigInt(node)))
/** `addr(bytes32)` of a resolver */
const addressOf = (resolver: Address, node: Hex) => wordCall(resolver, encodeCall('0x3b3b57de', BigInt(node)))

/**
 * Reads the ENS name that an account calls itself by, and that leads back to the account.
 *
 * | registry or resolver | outcome |
 * |---|---|
 * | has no record, refuses, or has no code | no name |
 * | asks for a read off chain (ERC-3668), or answers for a name without a record of its own (ENSIP-10) | no name |
 * | the name leads to another account, or is not one of {@link isPlainName} | no name |
 * | loops, or its answer is too long or malformed | incomplete, NAME_UNREADABLE |
 *
 * @param address - lower case.
 * @throws what `multicall` throws.
 * @remarks One round of calls for an account without a name, and three for one with a name: the reverse record, the name, and
 *   together the name's resolver and address. A fourth, where the name has another resolver than the reverse record.
 * @see ENSIP-3
 */
export async function readAccountName(
  multicall: Multicall,
  registry: Address,
  address: Address
): Promise<AccountName> {
  const ask = (...calls: readonly ContractCall[]) =>
    multicall.callAll(
      calls,
      call => call,
      result => result
    )
  const reverseNode = namehash(`${address.slice(2)}.addr.reverse`)

  const [reverse] = await ask(resolverOf(registry, reverseNode))
  const resolver = read(reverse, decodeAddress)
  if (resolver === broken) return unreadable(registry)
  if (resolver === undefined || isZero(resolver)) return nameless

  const [claim] = await ask(nameOf(resolver, reverseNode))
  const name = read(claim, decodeText)
  if (name === broken) return unreadable(resolver)
  if (name === undefined || !isPlainName(name)) return nameless

  const node = namehash(name)
  const [forward, guess] = await ask(resolverOf(registry, node), addressOf(resolver, node))
  const ownResolver = read(forward, decodeAddress)
  if (ownResolver === broken) return unreadable(registry)
  if (ownResolver === undefined || isZero(ownResolver)) return nameless

  const [answer] = ownResolver === resolver ? [guess] : await ask(addressOf(ownResolver, node))
  const resolved = read(answer, decodeAddress)
  if (resolved === broken) return unreadable(ownResolver)
  return resolved === address ? { name, incomplete: [] } : nameless
}

/** @returns `undefined` where the contract has nothing to say. */
function read<T>(
  result: CallResult | undefined,
  decode: (data: string) => T | undefined
): T | typeof broken | undefined {
  if (result === undefined || result.kind === 'failed') return broken
  if (result.kind === 'reverted' || result.data === '') return undefined
  return decode(result.data) ?? broken
}

function isZero(address: Address): boolean {
  return /^0x0+$/.test(address)
}
