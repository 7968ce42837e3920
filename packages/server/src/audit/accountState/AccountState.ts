import type { Address, IndexedBlock, TokenStandard } from '../../model/evm.ts'

/** An account as the chain's state has it after a block. */
export interface AccountAt {
  readonly nonce: bigint
  readonly balance: bigint
  /** `delegation`: the account has a key, and runs the code of a contract (EIP-7702). */
  readonly code: 'none' | 'delegation' | 'contract'
}

/** A balance of its own: of an ERC-20 or ERC-721 contract, or of one id of an ERC-1155 contract. */
export interface TokenName {
  readonly standard: TokenStandard
  readonly contract: Address
  /** Only for erc1155. */
  readonly tokenId?: bigint
}

export type TokenBalance =
  | { readonly kind: 'read'; readonly amount: bigint }
  /** The contract does not answer: it reverts, burns all gas, returns nothing or no number, or is not there. */
  | { readonly kind: 'refused' }
  /** The node does not have this state, or did not come to an end: nothing is known. */
  | { readonly kind: 'unknown' }

/**
 * Reads the chain's state up to one block, from one node. Heights above that block are never read.
 *
 * @remarks Every method throws as `EvmNode.request` does, and the signal's reason when aborted.
 */
export interface AccountState {
  /** The account at the block itself. */
  readonly now: AccountAt
  /** For each height the account after that block; absent where the node does not have the state any more. One exchange. */
  accounts(heights: readonly number[]): Promise<readonly (AccountAt | undefined)[]>
  /** Balances after one block, in the order of `tokens`. For a block whose `accounts` is known. */
  balances(tokens: readonly TokenName[], height: number): Promise<readonly TokenBalance[]>
  /** One balance after each of several blocks. One exchange. */
  balanceAt(token: TokenName, heights: readonly number[]): Promise<readonly TokenBalance[]>
  /** `totalSupply` of a contract after each of several blocks. One exchange. */
  supplyAt(contract: Address, heights: readonly number[]): Promise<readonly TokenBalance[]>
  /**
   * The block at a height, read and verified anew; traced where the chain is traced.
   * @returns `undefined`: no node gives it.
   */
  block(height: number): Promise<IndexedBlock | undefined>
}
