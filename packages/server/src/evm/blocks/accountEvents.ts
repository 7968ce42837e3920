import type { AccountEvent, AccountEvents, Address, EvmTransaction } from '@chain-data/index'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readList,
  readObject,
  readOptionalQuantity,
  readQuantity
} from '../../nodes/evm/rawFields.ts'
import type { SignedAuthorizations } from './authorizations.ts'

/** Withdrawals are counted in Gwei. */
const weiPerGwei = 1_000_000_000n
/** A rollup's deposit, as chains of the OP stack have it. */
const depositType = 0x7e

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
 * - Its EIP-7702 authorizations, valid or not; the authority's nonces show which were valid.
 *
 * @param raw - as the node sent it.
 * @throws {NodeContradictionError} `mint` is not a quantity.
 */
export function addTransactionEvents(
  events: AccountEventList,
  { hash, type, from }: Pick<EvmTransaction, 'hash' | 'type' | 'from'>,
  raw: RawObject,
  signed: SignedAuthorizations,
  where: string
): void {
  if (type === depositType) {
    const amount = readOptionalQuantity(raw.mint, where, 'mint') ?? 0n
    if (amount > 0n) events.add(from, { kind: 'mint', amount })
  }
  for (const { authority, nonce } of signed.get(hash) ?? []) {
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
