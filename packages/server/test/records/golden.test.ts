import { readFileSync } from 'node:fs'
import type { Address } from '@chain-data/index'
import { decodeDetailed } from '@chain-data/index/record'
import { decodePending, encodeConfirmed, encodePending } from '@chain-data/index/test'
import { expect, it } from 'vitest'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { exactJson } from '../../src/platform/exactJson.ts'
import { createRecordWriter, toTransactionRecord } from '../../src/server/methods/createRecordWriter.ts'

/** Bytes of a record, and the text that is written of it. Bytes that change give stores another format. */
interface Golden {
  readonly kind: 'confirmed' | 'pending'
  readonly id?: number
  readonly bytes: string
  readonly text: string
}

const golden = JSON.parse(readFileSync(new URL('golden.json', import.meta.url), 'utf8')) as readonly Golden[]
const confirmed = golden.filter(({ kind }) => kind === 'confirmed')
const pending = golden.filter(({ kind }) => kind === 'pending')
const format = createAddressFormat()
const writeRecords = createRecordWriter(format)

const chunkOf = ({ id = 0, bytes }: Golden) => ({ ids: [id], bytes: Buffer.from(bytes, 'hex') })

it('records that are stored are written as the text that they have always been', () => {
  expect(confirmed.length).toBeGreaterThan(40)
  for (const record of confirmed) {
    const { from } = JSON.parse(record.text) as { from: string }
    const attached = {
      address: from.toLowerCase() as Address,
      transfers: true,
      internal: true,
      operations: true
    }
    expect(String(writeRecords(chunkOf(record), attached))).toBe(record.text)
  }
})

it('records that are stored are read as values that give the same text and the same bytes', () => {
  for (const record of confirmed) {
    const [read] = decodeDetailed(chunkOf(record))
    if (read === undefined) throw new Error('nothing was read')
    const { transaction, details } = read
    expect(encodeConfirmed(transaction, details).toString('hex')).toBe(record.bytes)
    expect(JSON.parse(record.text)).toMatchObject(
      JSON.parse(exactJson(toTransactionRecord(transaction, format))) as object
    )
  }
})

it('entries of the pool that are stored are read as they have always been', () => {
  expect(pending.length).toBeGreaterThan(10)
  for (const { bytes, text } of pending) {
    const record = decodePending(Buffer.from(bytes, 'hex'))
    expect(encodePending(record).toString('hex')).toBe(bytes)
    const seen = { ...record, status: 1 as const, firstSeenSeconds: 1_700_000_000 }
    expect(exactJson(toTransactionRecord(seen, format))).toBe(text)
  }
})
