import type { BlockRows } from '../../../index/record/encodeBlock.ts'
import { addressLength, encodeEvents } from '../../../index/record/encodeBlock.ts'
import { toHex } from '../../../index/record/hexBytes.ts'
import type { Address } from '../../../model/evm.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { AccountEventList, addTransactionEvents, mayHaveEvents, weiPerGwei } from '../accountEvents.ts'
import { decline } from './decline.ts'
import { decodeHex } from './decodeHex.ts'
import { JsonCursor } from './JsonCursor.ts'
import { MemberNames } from './MemberNames.ts'
import { Members } from './Members.ts'
import { fixedInWithdrawal, inBlock, inReceipt, inTransaction, inWithdrawal } from './readMembers.ts'
import { WeiSum } from './WeiSum.ts'
import type { TransactionFacts } from './writeRecord.ts'

/**
 * What a block does to accounts besides its transactions. Tips and withdrawals, which almost every block has, are read from
 * bytes; there is little of the rest, which is parsed and read in the ordinary way.
 */
export class EventRows {
  #events = new AccountEventList()
  readonly #tips = new WeiSum()
  readonly #withdrawals = new Members(new MemberNames(inWithdrawal, fixedInWithdrawal))
  readonly #address = new Uint8Array(addressLength)
  #baseFee = 0

  beginBlock(block: Members): void {
    this.#events = new AccountEventList()
    this.#tips.reset()
    this.#baseFee = block.has(inBlock.baseFeePerGas) ? block.number(inBlock.baseFeePerGas) : 0
  }

  /** Adds what the transaction that is selected pays and does. */
  add(transaction: Members, receipt: Members, { type, gasUsed }: TransactionFacts): void {
    this.#addTip(receipt, gasUsed)
    if (!mayHaveEvents(type)) return
    const from = this.#addressIn(transaction, inTransaction.from)
    const raw = {
      mint: parsed(transaction, inTransaction.mint),
      chainId: parsed(transaction, inTransaction.chainId),
      authorizationList: parsed(transaction, inTransaction.authorizationList)
    }
    unlessContradicted(() => addTransactionEvents(this.#events, { type, from }, raw, ''))
  }

  /** What stands in the rows of the block. */
  finish(block: Members): Pick<BlockRows, 'eventAddresses' | 'events' | 'eventEnds'> {
    const tips = this.#tips.total
    if (tips > 0n && block.has(inBlock.miner)) {
      this.#events.add(this.#addressIn(block, inBlock.miner), { kind: 'tip', amount: tips })
    }
    if (block.has(inBlock.withdrawals)) this.#addWithdrawals(block)
    return encodeEvents(this.#events.list())
  }

  #addWithdrawals(block: Members): void {
    const withdrawals = this.#withdrawals
    const cursor = new JsonCursor(block.bytes, block.start(inBlock.withdrawals))
    withdrawals.reset(block.bytes)
    cursor.readList(() => {
      withdrawals.read(cursor)
      if (!withdrawals.has(inWithdrawal.amount)) decline()
      const small = withdrawals.smallNumber(inWithdrawal.amount)
      const gwei = small < 0 ? withdrawals.bigint(inWithdrawal.amount) : BigInt(small)
      const address = this.#addressIn(withdrawals, inWithdrawal.address)
      if (gwei > 0n) this.#events.add(address, { kind: 'withdrawal', amount: gwei * weiPerGwei })
    })
  }

  #addressIn(members: Members, member: number): Address {
    decodeHex(members.bytes, members.fixed(member, addressLength), addressLength, this.#address, 0)
    return toHex(this.#address)
  }

  #addTip(receipt: Members, gasUsed: number): void {
    const price = receipt.smallNumber(inReceipt.effectiveGasPrice)
    if (price > this.#baseFee) this.#tips.addProduct(gasUsed, price - this.#baseFee)
    else if (price < 0) {
      const tip = receipt.bigint(inReceipt.effectiveGasPrice) - BigInt(this.#baseFee)
      this.#tips.add(BigInt(gasUsed) * tip)
    }
  }
}

/** The value of a member, which has been walked over as sound JSON; `undefined` where it is missing. */
function parsed(members: Members, member: number): unknown {
  if (!members.has(member)) return undefined
  const text = members.bytes.subarray(members.start(member), members.end(member))
  return JSON.parse(Buffer.from(text).toString('latin1'))
}

function unlessContradicted(read: () => void): void {
  try {
    read()
  } catch (error) {
    if (error instanceof NodeContradictionError) decline()
    throw error
  }
}
