// @ts-nocheck What this imports is installed beside a copy of this folder only.
import { ponder } from 'ponder:registry'
import { transaction, transfer } from 'ponder:schema'

if (process.env.BENCH_SUBJECT === 'transfers') {
  ponder.on('Token:Transfer', async ({ event, context }) => {
    await context.db.insert(transfer).values({
      id: event.id,
      from: event.args.from,
      to: event.args.to,
      token: event.log.address,
      amount: event.args.amount,
      hash: event.transaction.hash,
      block: event.block.number
    })
  })
} else {
  ponder.on('Sender:transaction:from', async ({ event, context }) => {
    await context.db.insert(transaction).values({
      hash: event.transaction.hash,
      from: event.transaction.from,
      to: event.transaction.to,
      value: event.transaction.value,
      input: event.transaction.input,
      nonce: event.transaction.nonce,
      block: event.block.number,
      index: event.transaction.transactionIndex,
      timestamp: event.block.timestamp
    })
  })
}
