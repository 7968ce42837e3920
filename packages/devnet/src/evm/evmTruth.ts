import { ZeroAddress } from 'ethers'
import type {
  EvmBlock,
  EvmContract,
  EvmMetadataDocument,
  EvmRole,
  EvmTransaction,
  EvmWorld
} from './EvmWorld.ts'

/** What an account must hold of one ERC-20 token. */
export interface EvmTokenTruth {
  contract: EvmContract
  amount: bigint
}

/** What an account must hold of one NFT id. */
export interface EvmNftTruth {
  contract: EvmContract
  tokenId: bigint
  /** 1 for ERC-721. */
  balance: bigint
  isSemiFungible: boolean
  /** As the contract answers, `{id}` not filled in. */
  tokenUri: string
  /** Where that leads to; absent when nothing is there. */
  document?: EvmMetadataDocument
}

/** Token balances and NFTs of one account. */
export interface EvmHoldingsTruth {
  /** Without zero balances, in the order of first contact. */
  tokens: EvmTokenTruth[]
  nfts: EvmNftTruth[]
}

/**
 * The history of an address as a service must tell it, in the order of the wire contract.
 *
 * Pending ones first (executable before queued, then nonce descending), then by block and index descending.
 * Dropped ones are left out.
 *
 * @param address - Any case.
 * @param traces - Whether the service knows traces. With `off`, to pay or to be paid by a contract makes nobody a party.
 */
export function evmHistoryOf(
  world: EvmWorld,
  address: string,
  traces: 'on' | 'off' = 'on'
): EvmTransaction[] {
  const wanted = address.toLowerCase()
  return world.transactions
    .filter(transaction => transaction.state !== 'dropped')
    .filter(({ roles }) =>
      roles.some(role => role.address.toLowerCase() === wanted && (traces === 'on' || !isInternal(role.role)))
    )
    .sort(compareNewestFirst)
}

function isInternal(role: EvmRole): boolean {
  return role === 'internalFrom' || role === 'internalTo'
}

function compareNewestFirst(a: EvmTransaction, b: EvmTransaction): number {
  if (a.position !== undefined && b.position !== undefined) {
    return b.position.blockNumber - a.position.blockNumber || b.position.index - a.position.index
  }
  if (a.position !== undefined) return 1
  if (b.position !== undefined) return -1
  return wireStatusOf(b) - wireStatusOf(a) || b.nonce - a.nonce
}

/** `status` on the wire: 0 queued, 1 pending, 3 success, 4 failed. @throws For a dropped transaction. */
export function wireStatusOf(transaction: EvmTransaction): 0 | 1 | 3 | 4 {
  switch (transaction.state) {
    case 'queued':
      return 0
    case 'pending':
      return 1
    case 'success':
      return 3
    case 'failed':
      return 4
    case 'dropped':
      throw new Error(`transaction ${transaction.label} was dropped: it has no status`)
  }
}

/** Everything an account holds beside ether, folded from the transactions that succeeded. */
export function evmHoldingsOf(world: EvmWorld, address: string): EvmHoldingsTruth {
  const owner = address.toLowerCase()
  const contracts = new Map(Object.values(world.contracts).map(contract => [contract.address, contract]))
  const tokens = new Map<string, EvmTokenTruth>()
  const nfts = new Map<string, EvmNftTruth>()
  const uris = new Map<string, string>()

  for (const effect of effectsInOrder(world)) {
    if (effect.kind === 'internal') continue
    const contract = contracts.get(effect.contract)
    if (contract === undefined) throw new Error(`no contract ${effect.contract} in this world`)
    if (effect.kind === 'uri') {
      uris.set(`${contract.address} ${effect.tokenId}`, effect.uri)
      continue
    }
    const sign =
      (effect.to.toLowerCase() === owner ? 1n : 0n) - (effect.from.toLowerCase() === owner ? 1n : 0n)
    if (sign === 0n) continue
    if (effect.kind === 'erc20') {
      const held = tokens.get(contract.address) ?? { contract, amount: 0n }
      held.amount += sign * effect.amount
      tokens.set(contract.address, held)
      continue
    }
    const key = `${contract.address} ${effect.tokenId}`
    const held = nfts.get(key) ?? {
      contract,
      tokenId: effect.tokenId,
      balance: 0n,
      isSemiFungible: contract.kind === 'erc1155',
      tokenUri: ''
    }
    held.balance += sign * (effect.kind === 'erc1155' ? effect.amount : 1n)
    nfts.set(key, held)
  }

  for (const [key, nft] of nfts) {
    nft.tokenUri = uris.get(key) ?? nft.contract.uriTemplate ?? ''
    const document = world.documents.get(fillUriTemplate(nft.tokenUri, nft.tokenId))
    if (document !== undefined) nft.document = document
  }
  return {
    tokens: [...tokens.values()].filter(token => token.amount > 0n),
    nfts: [...nfts.values()].filter(nft => nft.balance > 0n)
  }
}

function effectsInOrder(world: EvmWorld) {
  return confirmedInOrder(world)
    .filter(transaction => transaction.state === 'success')
    .flatMap(transaction => transaction.effects)
}

/** Transactions that are in a block, oldest first. */
export function confirmedInOrder(world: EvmWorld): EvmTransaction[] {
  return world.transactions
    .filter(transaction => transaction.position !== undefined)
    .sort((a, b) => -compareNewestFirst(a, b))
}

/** Replaces `{id}` as EIP-1155 asks: lower-case hex without 0x, padded to 64 digits. */
export function fillUriTemplate(uri: string, tokenId: bigint): string {
  return uri.replaceAll('{id}', tokenId.toString(16).padStart(64, '0'))
}

/**
 * The ether an account must hold, given what its transactions cost.
 *
 * @param feeOf - Fee in wei of a transaction the account sent. Where {@link evmFeeOf} knows it, use that; for
 *   the rest only a receipt can tell how much gas was used.
 */
export function evmNativeBalanceOf(
  world: EvmWorld,
  address: string,
  feeOf: (transaction: EvmTransaction) => bigint
): bigint {
  const owner = address.toLowerCase()
  const account = Object.values(world.accounts).find(candidate => candidate.address.toLowerCase() === owner)
  let balance = account?.initialBalanceWei ?? 0n
  for (const transaction of confirmedInOrder(world)) {
    const sent = transaction.from.toLowerCase() === owner
    if (sent) balance -= feeOf(transaction)
    if (transaction.state !== 'success') continue
    const target = transaction.to ?? transaction.createdContract
    if (sent) balance -= transaction.valueWei
    if (target?.toLowerCase() === owner) balance += transaction.valueWei
    for (const effect of transaction.effects) {
      if (effect.kind !== 'internal') continue
      if (effect.from.toLowerCase() === owner) balance -= effect.valueWei
      if (effect.to.toLowerCase() === owner) balance += effect.valueWei
    }
  }
  return balance
}

/**
 * What a confirmed transaction cost in wei, blobs included.
 *
 * @param gasUsed - From a receipt; may be left out where the truth knows it.
 * @returns Absent where the gas used or the base fee is not known.
 */
export function evmFeeOf(transaction: EvmTransaction, gasUsed = transaction.gasUsed): bigint | undefined {
  if (gasUsed === undefined || transaction.effectiveGasPriceWei === undefined) return undefined
  const blobFee = (transaction.blobGasUsed ?? 0n) * (transaction.blobGasPriceWei ?? 0n)
  return gasUsed * transaction.effectiveGasPriceWei + blobFee
}

/** The block a confirmed transaction is in. @throws For a transaction that is in none. */
export function evmBlockOf(world: EvmWorld, transaction: EvmTransaction): EvmBlock {
  const block = transaction.position && world.blocks[transaction.position.blockNumber]
  if (block === undefined) throw new Error(`transaction ${transaction.label} is in no block`)
  return block
}

/** The transaction of that label. @throws When there is none: a misspelt label must not pass for absence. */
export function evmTransaction(world: EvmWorld, label: string): EvmTransaction {
  const found = world.transactions.find(transaction => transaction.label === label)
  if (found === undefined) throw new Error(`no transaction is labelled ${label}`)
  return found
}

/** The contract of that label. @throws When there is none. */
export function evmContract(world: EvmWorld, label: string): EvmContract {
  const found = world.contracts[label]
  if (found === undefined) throw new Error(`no contract is labelled ${label}`)
  return found
}

/** The account of that name. @throws When there is none. */
export function evmAccount(world: EvmWorld, name: string) {
  const found = world.accounts[name]
  if (found === undefined) throw new Error(`no account is named ${name}`)
  return found
}

/** Every address that plays a role in some transaction of the world, without the zero address. */
export function evmAddressesOf(world: EvmWorld): string[] {
  const all = world.transactions
    .filter(transaction => transaction.state !== 'dropped')
    .flatMap(transaction => transaction.roles.map(role => role.address))
  return [...new Set(all)].filter(address => address !== ZeroAddress)
}
