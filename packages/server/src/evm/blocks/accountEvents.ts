import { getAddress, hashAuthorization, recoverAddress, Signature } from 'ethers'
import type { AccountEvent, AccountEvents, Address } from '../../model/evm.ts'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readList,
  readObject,
  readOptionalQuantity,
  readQuantity
} from '../../nodes/evm/rawFields.ts'

/** Withdrawals are counted in Gwei. */
const weiPerGwei = 1_000_000_000n
/** A rollup's deposit, as chains of the OP stack have it. */
const depositType = 0x7e
/** EIP-7702. */
const setCodeType = 4
/** An authorization with this nonce is never valid (EIP-2681). */
const lastNonce = 2n ** 64n - 1n

/** Collects the changes that a block makes to accounts besides its transactions, by account, in the order of adding. */
export class AccountEventList {
  readonly #events = new Map<Address, AccountEvent[]>()

  add(address: Address, event: AccountEvent): void {
    const events = this.#events.get(address)
    if (events === undefined) this.#events.set(address, [event])
    else events.push(event)
  }

  /** Each account once. */
  list(): readonly AccountEvents[] {
    return Array.from(this.#events, ([address, events]) => ({ address, events }))
  }
}

/**
 * Adds the changes that a transaction makes to accounts besides its own transfer. They stay when it fails.
 *
 * - The `mint` of a deposit, credited to its sender.
 * - The authorities of its EIP-7702 authorizations. An authorization for another chain, or with a signature that recovers
 *   no signer, has none. Whether the others were valid depends on state and is not checked; the account's nonces show it.
 *
 * @param raw - as the node sent it.
 * @throws {NodeContradictionError} `mint` is not a quantity.
 * @remarks Each authorization costs the recovery of its signer.
 */
export function addTransactionEvents(
  events: AccountEventList,
  { type, from }: { readonly type: number; readonly from: Address },
  raw: RawObject,
  where: string
): void {
  if (type === depositType) {
    const amount = readOptionalQuantity(raw.mint, where, 'mint') ?? 0n
    if (amount > 0n) events.add(from, { kind: 'mint', amount })
  }
  if (type !== setCodeType || !Array.isArray(raw.authorizationList)) return
  for (const tuple of raw.authorizationList) {
    const authorization = readAuthorization(tuple, raw.chainId)
    if (authorization === undefined) continue
    const { authority, nonce } = authorization
    events.add(authority, { kind: 'authorization', nonce })
  }
}

/**
 * Adds the changes that a block itself makes to accounts: tips to its fee recipient, then withdrawals (EIP-4895) in order.
 *
 * @param tips - what its transactions paid above the base fee.
 * @throws {NodeContradictionError} a field is malformed. The fee recipient is read only where there are tips.
 */
export function addBlockEvents(
  events: AccountEventList,
  { miner, withdrawals }: RawObject,
  tips: bigint,
  where: string
): void {
  if (tips > 0n && !isAbsent(miner)) {
    events.add(readAddress(miner, where, 'miner'), { kind: 'tip', amount: tips })
  }
  for (const [i, entry] of readList(withdrawals ?? [], where, 'withdrawals').entries()) {
    const at = `${where}: withdrawals[${i}]`
    const { address, amount } = readObject(entry, at)
    const wei = readQuantity(amount, `${at}.amount`) * weiPerGwei
    if (wei > 0n) events.add(readAddress(address, `${at}.address`), { kind: 'withdrawal', amount: wei })
  }
}

/**
 * Returns the price of one gas above the base fee, which is burnt (EIP-1559); 0 where it is lower, as in system transactions.
 * @param baseFee - absent: the chain burns nothing.
 */
export function tipPerGas(gasPrice: bigint, baseFee = 0n): bigint {
  return gasPrice > baseFee ? gasPrice - baseFee : 0n
}

/** Recovers the signer of an authorization. @returns `undefined` where it is for another chain, or has no signer. */
function readAuthorization(
  tuple: unknown,
  ownChainId: unknown
): { readonly authority: Address; readonly nonce: bigint } | undefined {
  try {
    const raw = readObject(tuple, 'authorization')
    const chainId = readQuantity(raw.chainId, 'chainId')
    if (chainId !== 0n && !isAbsent(ownChainId) && chainId !== readQuantity(ownChainId, 'chainId')) {
      return undefined
    }
    const nonce = readQuantity(raw.nonce, 'nonce')
    const address = getAddress(readAddress(raw.address, 'address'))
    const yParity = readQuantity(raw.yParity, 'yParity')
    if (nonce >= lastNonce || yParity > 1n) return undefined
    const signature = Signature.from({ r: wordOf(raw.r), s: wordOf(raw.s), yParity: yParity === 0n ? 0 : 1 })
    const authority = recoverAddress(hashAuthorization({ chainId, address, nonce }), signature)
    return { authority: authority.toLowerCase() as Address, nonce }
  } catch {
    // The chain skips a malformed authorization too, and one without a signer.
    return undefined
  }
}

function wordOf(quantity: unknown): string {
  return `0x${readQuantity(quantity, 'r or s').toString(16).padStart(64, '0')}`
}
