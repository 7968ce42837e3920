/** Roles of a party in a transaction, as bits. */
export const roles = {
  sent: 1,
  received: 2,
  created: 4,
  tokenIn: 8,
  tokenOut: 16,
  internalIn: 32,
  internalOut: 64,
  /** Sender of a user operation, authority of a delegation, or a party for any reason that its record does not hold. */
  signed: 128
} as const

/** Rows of consecutive blocks, in the order of their transactions. */
export interface RunRows {
  readonly firstBlock: number
  readonly lastBlock: number
  /** Of each transaction, ascending. */
  readonly ids: Float64Array
  /** 32 bytes for each transaction. */
  readonly hashes: Uint8Array
  /** For each party of a transaction, each once, its 20 bytes, the id of the transaction and the roles. */
  readonly partyAddresses: Uint8Array
  readonly partyIds: Float64Array
  readonly partyRoles: Uint8Array
  /**
   * For each token that a transaction moves to or from an account: owner (20), contract (20), standard (1), length of the key (1),
   * `tokenIdsKey`; then where it ends, the id of the transaction and the roles of the owner.
   */
  readonly candidates: Uint8Array
  readonly candidateEnds: Uint32Array
  readonly candidateIds: Float64Array
  readonly candidateRoles: Uint8Array
  /** For each account with events in a block: its 20 bytes and the number of the block. */
  readonly eventAddresses: Uint8Array
  readonly eventBlocks: Float64Array
}
