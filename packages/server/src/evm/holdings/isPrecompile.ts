import type { Address } from '../../model/evm.ts'

/**
 * Whether an address is one of the first 256, which Ethereum keeps for precompiled functions. They take any call for
 * their input, so what `balanceOf` seems to answer there means nothing.
 *
 * @param address - lower case.
 * @remarks Chains put their own system tokens at higher addresses (`0x…1010`, `0x…800a`); these count as contracts.
 */
export function isPrecompile(address: Address): boolean {
  return address.startsWith(`0x${'0'.repeat(38)}`)
}
