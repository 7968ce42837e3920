/**
 * Everything that was done to an EVM chain, written down from intent.
 *
 * Nothing in here was read back from the node: hashes come from the locally signed transactions, positions
 * from our own mining, balances from what the transactions were meant to move. It can therefore judge a node,
 * an index over it, or an API. {@link EvmDriver} keeps it true while the chain moves on.
 *
 * Addresses are EIP-55 checksummed. Amounts are bigints in base units (wei for ether).
 */
export interface EvmWorld {
  chainId: number
  /** Accounts by name; those with a private key have sent transactions. */
  accounts: Record<string, EvmAccount>
  /** Contracts by label, those whose creation failed or was undone left out. */
  contracts: Record<string, EvmContract>
  /** Blocks by number; the first is the genesis block. */
  blocks: EvmBlock[]
  /** Every transaction ever sent, in the order of sending, also those that are gone again. */
  transactions: EvmTransaction[]
  /** What a metadata URI leads to, by absolute URI (templates filled in); no entry means a 404. */
  documents: Map<string, EvmMetadataDocument>
}

/** A party of the story. */
export interface EvmAccount {
  name: string
  address: string
  /** Absent for accounts that only ever receive. */
  privateKey?: string
  /** Balance in the genesis block. */
  initialBalanceWei: bigint
}

/** A contract of known behaviour. */
export interface EvmContract {
  label: string
  kind: 'erc20' | 'erc721' | 'erc1155' | 'other'
  address: string
  /** What `name()` and `symbol()` answer; empty for `other`. */
  name: string
  symbol: string
  /** ERC-20 only. */
  decimals?: number
  /** ERC-1155 only: the URI of ids without one of their own, with `{id}` as it stands on chain. */
  uriTemplate?: string
  /** The transaction that created it. */
  creationHash: string
}

/** What a document holds when it is read as metadata. */
export interface EvmMetadataDocument {
  /** How it is reached. `ipfs` needs a gateway: the metadata host itself acts as one. */
  via: 'http' | 'data' | 'ipfs'
  /** The object, or absent where the document is no JSON object. */
  json?: Record<string, unknown>
}

/** A block of our own making. */
export interface EvmBlock {
  number: number
  /** Absent for blocks whose time the node chose (replacements made by a reorg). */
  timestampSeconds?: number
  /** Absent where the node chose it. */
  baseFeeWei?: bigint
  /** Hashes in order. */
  transactionHashes: string[]
}

/** Why a transaction belongs to the history of an address; the internal roles only for a service that knows traces. */
export type EvmRole =
  | 'sender'
  | 'receiver'
  | 'created'
  /** Signed an EIP-7702 authorization in it. */
  | 'authority'
  | 'tokenFrom'
  | 'tokenTo'
  | 'internalFrom'
  | 'internalTo'

/**
 * A change a transaction makes beside its own value. Applied only if it succeeds.
 *
 * The zero address stands for minting and burning. `internal` is ether moved by a contract.
 */
export type EvmEffect =
  | { kind: 'erc20'; contract: string; from: string; to: string; amount: bigint }
  | { kind: 'erc721'; contract: string; from: string; to: string; tokenId: bigint }
  | { kind: 'erc1155'; contract: string; from: string; to: string; tokenId: bigint; amount: bigint }
  | { kind: 'uri'; contract: string; tokenId: bigint; uri: string }
  | { kind: 'internal'; from: string; to: string; valueWei: bigint }

/**
 * Where a transaction stands. `dropped`: replaced by another of the same nonce, thrown out of the pool, or in a
 * block that was undone; a service must not show it any more.
 */
export type EvmTransactionState = 'success' | 'failed' | 'pending' | 'queued' | 'dropped'

/** One transaction as it was signed, and what must become of it. */
export interface EvmTransaction {
  /** Unique within the world: how tests name it. */
  label: string
  hash: string
  raw: string
  from: string
  /** Absent for a creation. */
  to?: string
  valueWei: bigint
  /** 0x-hex, `0x` when empty. */
  data: string
  gasLimit: bigint
  nonce: number
  /** EIP-2718 number, 0 to 4. */
  type: number
  /** Types 1 and above, possibly empty. */
  accessList?: { address: string; storageKeys: string[] }[]
  /** As signed, types 0 and 1 only. */
  gasPriceWei?: bigint
  /** Types 2 and above. */
  maxFeePerGasWei?: bigint
  maxPriorityFeePerGasWei?: bigint
  /** Type 3 only. */
  maxFeePerBlobGasWei?: bigint
  blobVersionedHashes?: string[]
  /** Type 4 only: who hands its code over to whom. */
  delegations?: { authority: string; delegate: string }[]
  /** What inclusion in a block leads to. */
  outcome: 'success' | 'failed'
  state: EvmTransactionState
  /** Addresses whose history it belongs to, with the reason; the zero address is nobody and left out. */
  roles: { address: string; role: EvmRole }[]
  /** Applied when `state` is `success`. */
  effects: EvmEffect[]
  /** While in a block. */
  position?: { blockNumber: number; index: number }
  /** A creation that succeeds. */
  createdContract?: string
  /** A creation that fails: where the contract would have been. Nodes like to report it. */
  attemptedContract?: string
  /** Only where the rules of the chain alone decide it: no foreign code runs, or all gas is burnt. */
  gasUsed?: bigint
  /** While in a block whose base fee was set by us. */
  effectiveGasPriceWei?: bigint
  /** Type 3 only, while in a block. */
  blobGasUsed?: bigint
  blobGasPriceWei?: bigint
}
