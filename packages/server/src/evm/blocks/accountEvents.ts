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
/** A tuple with it is never valid (EIP-2681). */
const lastNonce = 2n ** 64n - 1n

/** What one block does to accounts besides its transactions, account by account, in the order in which it is added. */
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
 * Adds what a transaction does to accounts besides itself, also where it has failed: neither is undone then.
 *
 * - `mint` of a deposit, to its sender, out of nothing.
 * - EIP-7702: its authorities. A tuple for another chain has none, nor has one whose signature is nobody's. Whether the
 *   others were valid is not looked at: that depends on state. The nonces of the account tell.
 *
 * @param raw - as the node sent it.
 * @throws {NodeContradictionError} `mint` is not a quantity.
 * @remarks Milliseconds for each tuple, whose signer has to be computed.
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
 * Adds what a block does to accounts by itself: tips to its fee recipient, then withdrawals (EIP-4895) in their order.
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
  for (const [place, entry] of readList(withdrawals ?? [], where, 'withdrawals').entries()) {
    const at = `${where}: withdrawals[${place}]`
    const { address, amount } = readObject(entry, at)
    const wei = readQuantity(amount, `${at}.amount`) * weiPerGwei
    if (wei > 0n) events.add(readAddress(address, `${at}.address`), { kind: 'withdrawal', amount: wei })
  }
}

/**
 * What one gas paid above the base fee, which is burnt (EIP-1559). Nothing where it paid less: system transactions do.
 * @param baseFee - absent: the chain burns nothing.
 */
export function tipPerGas(gasPrice: bigint, baseFee = 0n): bigint {
  return gasPrice > baseFee ? gasPrice - baseFee : 0n
}

/** @returns `undefined` for a tuple that is not for this chain, or that nobody has signed. */
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
    // What is not of the form of a tuple, or has no signer, is skipped by the chain as well.
    return undefined
  }
}

function wordOf(quantity: unknown): string {
  return `0x${readQuantity(quantity, 'r or s').toString(16).padStart(64, '0')}`
}
