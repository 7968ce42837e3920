import type { Address, Hex } from '../../model/evm.ts'
import { decodeText } from '../state/abi.ts'
import type { CallResult, ContractCall } from '../state/contractCall.ts'

/** Pictures that are drawn on chain cost much; so a second attempt may cost ten times the first. */
const uriGas = 3_000_000
const generousUriGas = 30_000_000
/** Pictures that are kept on chain are large. */
const maxUriReturnBytes = 512 * 1024

/** One read of a metadata URI. */
export function uriCall(to: Address, data: Hex): ContractCall {
  return { to, data, gas: uriGas, generousGas: generousUriGas, maxReturnBytes: maxUriReturnBytes }
}

/**
 * @returns the URI as on chain; "" where the contract has none (the metadata part of the standards is optional);
 *   absent where it is broken.
 */
export function readUri(result: CallResult): string | undefined {
  if (result.kind === 'failed') return undefined
  if (result.kind === 'reverted' || result.data === '') return ''
  return decodeText(result.data)
}
