import type { Address, Hex, HoldingCandidate, TokenStandard } from '@chain-data/index'
import { decodeAddress, decodeText, decodeUint, encodeCall } from '../state/abi.ts'
import type { CallResult, ContractCall } from '../state/contractCalls.ts'

/** The owner's part in one candidate, by state. */
export type Ownership =
  | { readonly kind: 'held'; readonly amount: bigint }
  | { readonly kind: 'none' }
  /** The contract did not answer the question: it may be no token at all. Other evidence decides. */
  | { readonly kind: 'silent' }
  /** Broken, too expensive or malformed: whether and how much is held is not known. */
  | { readonly kind: 'unreadable' }

/** Asks contracts of one token standard who owns what. */
interface OwnershipReader {
  call(candidate: HoldingCandidate): ContractCall
  read(result: CallResult, candidate: HoldingCandidate): Ownership
}

/** Enough for proxies and rebasing tokens; a few milliseconds of a node's time. */
export const balanceGas = 500_000

/** Reading one word. Contracts that return more than these bytes where a word is expected are broken. */
const maxWordReturnBytes = 4096

/** Ownership from an answer that is an amount. */
function readAmount(result: CallResult): Ownership {
  if (result.kind === 'failed') return { kind: 'unreadable' }
  if (result.kind === 'reverted' || result.data === '') return { kind: 'silent' }
  const amount = decodeUint(result.data)
  if (amount === undefined) return { kind: 'unreadable' }
  return amount === 0n ? { kind: 'none' } : { kind: 'held', amount }
}

/** One read of one word. */
export function wordCall(to: Address, data: ContractCall['data']): ContractCall {
  return { to, data, gas: balanceGas, maxReturnBytes: maxWordReturnBytes }
}

/**
 * `balanceOf(address)`. A contract that does not answer is silent, not empty.
 * @see EIP-20
 */
export const erc20Ownership: OwnershipReader = {
  call: ({ contract, owner }) => wordCall(contract, encodeCall('0x70a08231', owner)),
  read: readAmount
}

/**
 * `ownerOf(uint256)`. A revert means that the token does not exist (any more): EIP-721 demands it.
 * @see EIP-721
 */
export const erc721Ownership: OwnershipReader = {
  call: ({ contract, tokenId = 0n }) => wordCall(contract, encodeCall('0x6352211e', tokenId)),
  read(result, { owner }) {
    if (result.kind === 'failed') return { kind: 'unreadable' }
    if (result.kind === 'reverted') return { kind: 'none' }
    if (result.data === '') return { kind: 'silent' }
    const holder = decodeAddress(result.data)
    if (holder === undefined) return { kind: 'unreadable' }
    return holder === owner ? { kind: 'held', amount: 1n } : { kind: 'none' }
  }
}

/**
 * `balanceOf(address,uint256)`
 * @see EIP-1155
 */
const erc1155Ownership: OwnershipReader = {
  call: ({ contract, owner, tokenId = 0n }) => wordCall(contract, encodeCall('0x00fdd58e', owner, tokenId)),
  read: readAmount
}

/** The reader of ownership for each standard. */
export const ownershipReaders: Readonly<Record<TokenStandard, OwnershipReader>> = {
  erc20: erc20Ownership,
  erc721: erc721Ownership,
  erc1155: erc1155Ownership
}

/** Pictures that are drawn on chain cost much; so a second attempt may cost ten times the first. */
const uriGas = 3_000_000
const generousUriGas = 30_000_000
/** Pictures that are kept on chain are large. */
const maxUriReturnBytes = 512 * 1024

/** One read of a metadata URI. */
function uriCall(to: Address, data: Hex): ContractCall {
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

/** `tokenURI(uint256)` */
export function erc721UriCall(contract: Address, tokenId: bigint): ContractCall {
  return uriCall(contract, encodeCall('0xc87b56dd', tokenId))
}

/** `uri(uint256)`; `{id}` is replaced when the URI is fetched. */
export function erc1155UriCall(contract: Address, tokenId: bigint): ContractCall {
  return uriCall(contract, encodeCall('0x0e89341c', tokenId))
}
