import type { AddressEvent } from '@chain-data/protocol'

/** One event as a line: what happened, the transaction, its block, and what it moved. */
export function formatEvent(event: AddressEvent): string {
  const kind = event.kind.padEnd(11)
  switch (event.kind) {
    case 'synced':
      return `${kind} up to block ${event.head.blockNumber}`
    case 'removed': {
      const why = event.replacedBy === undefined ? event.reason : `${event.reason} by ${event.replacedBy}`
      return `${kind} ${event.hash}  ${why}`
    }
    case 'final':
      return `${kind} ${event.hash}  block ${event.block.blockNumber}`
    default: {
      const { hash, from, to = 'a new contract', value, status } = event.record
      const place =
        event.block === undefined ? (status === 0 ? 'queued' : 'pending') : `block ${event.block.blockNumber}`
      const failed = status === 4 ? ', failed' : ''
      return `${kind} ${hash}  ${place}${failed}  ${from} to ${to}  ${BigInt(value)} wei`
    }
  }
}
