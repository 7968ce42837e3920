// @ts-nocheck What this imports is installed beside a copy of this folder only.
import { onchainTable } from 'ponder'

export const transfer = onchainTable('transfer', t => ({
  id: t.text().primaryKey(),
  from: t.hex().notNull(),
  to: t.hex().notNull(),
  token: t.hex().notNull(),
  amount: t.bigint().notNull(),
  hash: t.hex().notNull(),
  block: t.bigint().notNull()
}))

export const transaction = onchainTable('transaction', t => ({
  hash: t.hex().primaryKey(),
  from: t.hex().notNull(),
  to: t.hex(),
  value: t.bigint().notNull(),
  input: t.hex().notNull(),
  nonce: t.integer().notNull(),
  block: t.bigint().notNull(),
  index: t.integer().notNull(),
  timestamp: t.bigint().notNull()
}))
