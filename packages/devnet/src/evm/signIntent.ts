import { getAddress, getCreateAddress, Transaction, type TransactionLike, Wallet } from 'ethers'
import { DevnetError } from '../DevnetError.ts'
import type { EvmContract, EvmEffect, EvmTransaction, EvmWorld } from './EvmWorld.ts'
import { emptyBlob, gasPerBlob } from './emptyBlob.ts'
import { plainGasUsed } from './evmGas.ts'
import { evmAccount } from './evmTruth.ts'

const gwei = 10n ** 9n

/** A transaction to be sent, and what it is meant to do. Defaults make a plain type 2 transfer. */
export interface EvmIntent {
  /** Unique within the world. */
  label: string
  /** Name of an account with a key. */
  from: string
  /** Address; absent for a creation. */
  to?: string
  valueWei?: bigint
  data?: string
  /** EIP-2718 number; default 2. Type 3 carries one blob of zeros. */
  type?: 0 | 1 | 2 | 3 | 4
  /** Default: enough for what the contracts of this package do. */
  gasLimit?: bigint
  /** Default: the next one. A higher one leaves the transaction queued, a used one replaces. */
  nonce?: number
  accessList?: { address: string; storageKeys: string[] }[]
  /** Types 0 and 1; default 3 gwei. */
  gasPriceWei?: bigint
  /** Types 2 and above; defaults 4 and 1 gwei. */
  maxFeePerGasWei?: bigint
  maxPriorityFeePerGasWei?: bigint
  /** Type 4: accounts, by name, that let the code of an address act for them. */
  delegations?: { account: string; delegate: string }[]
  /** Default `success`. */
  outcome?: 'success' | 'failed'
  /** The transaction ends in a way that takes its whole gas limit (an invalid opcode, for one). */
  burnsAllGas?: boolean
  /** What it changes beside its own value if it succeeds. */
  effects?: EvmEffect[]
  /** A creation: what stands at the new address afterwards. */
  creates?: Omit<EvmContract, 'address' | 'creationHash'>
}

/**
 * Turns an intent into a signed transaction and the truth about it. Sends nothing.
 *
 * @param nonceOf - Next nonce of an address, transactions in the pool counted.
 */
export function signIntent(
  world: EvmWorld,
  intent: EvmIntent,
  nonceOf: (address: string) => number
): EvmTransaction {
  const wallet = walletOf(world, intent.from)
  const type = intent.type ?? 2
  const nonce = intent.nonce ?? nonceOf(wallet.address)
  const to = intent.to === undefined ? undefined : getAddress(intent.to)
  const data = intent.data ?? '0x'
  const valueWei = intent.valueWei ?? 0n
  const accessList = type === 0 ? undefined : (intent.accessList ?? [])
  const fees =
    type < 2
      ? { gasPrice: intent.gasPriceWei ?? 3n * gwei }
      : {
          maxFeePerGas: intent.maxFeePerGasWei ?? 4n * gwei,
          maxPriorityFeePerGas: intent.maxPriorityFeePerGasWei ?? gwei
        }
  const plain = to !== undefined && !hasCode(world, to)
  const gasLimit = intent.gasLimit ?? (plain ? 100_000n : to === undefined ? 3_000_000n : 500_000n)

  const request: TransactionLike = {
    chainId: world.chainId,
    ...{ type, nonce, gasLimit, data, value: valueWei, ...fees },
    ...(to === undefined ? {} : { to }),
    ...(accessList === undefined ? {} : { accessList })
  }
  const delegations = (intent.delegations ?? []).map(({ account, delegate }) => {
    const signer = walletOf(world, account)
    // The sender's own nonce has moved past this transaction when its authorization is looked at.
    const authorityNonce = nonceOf(signer.address) + (signer.address === wallet.address ? 1 : 0)
    return signer.authorizeSync({ chainId: world.chainId, nonce: authorityNonce, address: delegate })
  })
  const signable = Transaction.from(request)
  if (type === 4) signable.authorizationList = delegations
  if (type === 3) {
    signable.maxFeePerBlobGas = gwei
    signable.blobVersionedHashes = [emptyBlob.versionedHash]
    signable.blobs = [emptyBlob.blob]
  }
  signable.signature = wallet.signingKey.sign(signable.unsignedHash)
  if (signable.hash === null) throw new DevnetError('MISUSE', `${intent.label} could not be signed`)

  const transaction: EvmTransaction = {
    label: intent.label,
    hash: signable.hash,
    raw: signable.serialized,
    from: wallet.address,
    valueWei,
    data,
    gasLimit,
    nonce,
    type,
    outcome: intent.outcome ?? 'success',
    state: 'pending',
    roles: [],
    effects: intent.effects ?? []
  }
  if (to !== undefined) transaction.to = to
  if (accessList !== undefined) transaction.accessList = accessList
  if (type < 2) transaction.gasPriceWei = signable.gasPrice ?? 0n
  else {
    transaction.maxFeePerGasWei = signable.maxFeePerGas ?? 0n
    transaction.maxPriorityFeePerGasWei = signable.maxPriorityFeePerGas ?? 0n
  }
  if (type === 3) {
    transaction.maxFeePerBlobGasWei = gwei
    transaction.blobVersionedHashes = [emptyBlob.versionedHash]
    transaction.blobGasUsed = gasPerBlob
  }
  if (type === 4) {
    transaction.delegations = (intent.delegations ?? []).map(({ account, delegate }) => ({
      authority: evmAccount(world, account).address,
      delegate: getAddress(delegate)
    }))
  }
  if (to === undefined) {
    const created = getCreateAddress({ from: wallet.address, nonce })
    if (transaction.outcome === 'success') transaction.createdContract = created
    else transaction.attemptedContract = created
  }
  const target = transaction.delegations?.some(({ authority }) => authority === to) ? undefined : to
  if (intent.burnsAllGas) transaction.gasUsed = gasLimit
  else if (plain && target !== undefined && transaction.outcome === 'success') {
    transaction.gasUsed = plainGasUsed({
      data,
      ...(accessList === undefined ? {} : { accessList }),
      authorizations: delegations.length
    })
  }
  return transaction
}

const wallets = new Map<string, Wallet>()

function walletOf(world: EvmWorld, name: string): Wallet {
  const { privateKey } = evmAccount(world, name)
  if (privateKey === undefined)
    throw new DevnetError('MISUSE', `the account ${name} has no key: it only receives`)
  const wallet = wallets.get(privateKey) ?? new Wallet(privateKey)
  wallets.set(privateKey, wallet)
  return wallet
}

/** Whether a call to the address would run code: a contract of this world, or an account that delegates. */
function hasCode(world: EvmWorld, address: string): boolean {
  if (Object.values(world.contracts).some(contract => contract.address === address)) return true
  return world.transactions.some(
    transaction =>
      transaction.state !== 'dropped' &&
      transaction.delegations?.some(({ authority }) => authority === address) === true
  )
}
