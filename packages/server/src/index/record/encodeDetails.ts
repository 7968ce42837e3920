import type { Address, ConfirmedTransaction, InternalTransfer, TokenTransfer } from '../../model/evm.ts'
import { AddressNames, callHead } from './namedAddresses.ts'
import { ByteWriter, unwritable } from './recordBytes.ts'

/** What is known of what happened in a transaction, besides what it says itself. */
export interface RecordDetails {
  /** In log order; absent: not known. */
  readonly transfers?: readonly TokenTransfer[]
  /** In the order of execution; absent: not known. */
  readonly internal?: readonly InternalTransfer[]
}

/** A transaction, as far as its transfers are written with it in mind. */
export type Transferring = Pick<ConfirmedTransaction, 'from' | 'to' | 'contractAddress' | 'data'>

/**
 * What a transfer begins with: its shape. Of all but `said` follow contract, sender and receiver as numbers of addresses,
 * unless `sameParties` is added, then token id, last token id and amount as integers, those that the shape has.
 */
export const shapes = {
  /** All of it is what the calldata say, a plain call of `transfer(address,uint256)`. */
  said: 0,
  erc20: 1,
  erc721: 2,
  erc721Range: 3,
  erc1155: 4,
  wrapping: 5
} as const
/** The three are those of the transfer before. */
export const sameParties = 8

/** Kinds of internal transfers, by the number that is stored. Of each follow payer and receiver as numbers, then the value. */
export const internalKinds = ['call', 'create', 'selfdestruct'] as const

/** What such a call begins with: selector and the zeros before its receiver. */
export const saidCall = Buffer.from('a9059cbb000000000000000000000000', 'hex')
/** Selector and two words. */
export const saidLength = 68

/** Whether calldata are a call of `transfer(address,uint256)` and nothing more. @param head - its first bytes. */
export function saysTransfer(head: Uint8Array, dataLength: number): boolean {
  if (dataLength !== saidLength) return false
  for (let i = 0; i < saidCall.length; i++) if (head[i] !== saidCall[i]) return false
  return true
}

/** Where the receiver of such a call stands in it. */
export const saidReceiver = saidCall.length
/** Where the amount stands, one word. */
export const saidAmount = 36

/** @throws {StoreError} a value has no place in the format. */
export function encodeTransfers(transaction: Transferring, transfers: readonly TokenTransfer[]): Buffer {
  const head = callHead(transaction)
  let names: AddressNames | undefined
  const said = saidTransfer(transaction, head)
  const writer = new ByteWriter(64 * transfers.length)
  let before: TokenTransfer | undefined
  for (const transfer of transfers) {
    if (said !== undefined && isSaid(transfer, said)) {
      writer.byte(shapes.said)
    } else {
      const hasSameParties = before !== undefined && haveSameParties(transfer, before)
      writer.byte(shapeOf(transfer) | (hasSameParties ? sameParties : 0))
      if (!hasSameParties) {
        names ??= new AddressNames(transaction, head)
        for (const address of [transfer.contract, transfer.from, transfer.to]) names.write(writer, address)
      }
      for (const value of [transfer.tokenId, transfer.lastTokenId, transfer.amount]) {
        if (value !== undefined) writer.integer(value)
      }
    }
    before = transfer
  }
  return writer.finish()
}

/** @throws {StoreError} a value has no place in the format. */
export function encodeInternal(transaction: Transferring, internal: readonly InternalTransfer[]): Buffer {
  const names = new AddressNames(transaction, callHead(transaction))
  const writer = new ByteWriter(64 * internal.length)
  for (const { kind, from, to, value } of internal) {
    writer.byte(internalKinds.indexOf(kind))
    names.write(writer, from)
    names.write(writer, to)
    writer.integer(value)
  }
  return writer.finish()
}

interface SaidTransfer {
  readonly contract: Address
  readonly from: Address
  readonly to: Address
  readonly amount: bigint
}

function saidTransfer({ from, to, data }: Transferring, head: Buffer): SaidTransfer | undefined {
  if (to === undefined || !saysTransfer(head, (data.length - 2) / 2)) return undefined
  return {
    contract: to,
    from,
    to: `0x${head.toString('hex', saidReceiver, saidAmount)}`,
    amount: BigInt(`0x${head.toString('hex', saidAmount, saidLength)}`)
  }
}

function isSaid(transfer: TokenTransfer, said: SaidTransfer): boolean {
  return (
    shapeOf(transfer) === shapes.erc20 && haveSameParties(transfer, said) && transfer.amount === said.amount
  )
}

function haveSameParties(one: Omit<SaidTransfer, 'amount'>, other: Omit<SaidTransfer, 'amount'>): boolean {
  return one.contract === other.contract && one.from === other.from && one.to === other.to
}

function shapeOf(transfer: TokenTransfer): number {
  const { standard, amount, tokenId, lastTokenId, isWrapping } = transfer
  const has = [amount, tokenId, lastTokenId].map(value => (value === undefined ? '-' : 'x')).join('')
  if (standard === 'erc20' && has === 'x--') return isWrapping ? shapes.wrapping : shapes.erc20
  if (standard === 'erc721' && has === '-x-') return shapes.erc721
  if (standard === 'erc721' && has === '-xx') return shapes.erc721Range
  if (standard === 'erc1155' && has === 'xx-') return shapes.erc1155
  throw unwritable(`a transfer of standard ${standard}`, `amount ${amount}, ids ${tokenId} to ${lastTokenId}`)
}
