import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { decodeDetailed } from '../../src/index/record/details.ts'
import { decodePending, encodePending } from '../../src/index/record/record.ts'
import { encodeConfirmed } from '../../src/index/test/encodeConfirmed.ts'
import type { Address } from '../../src/model/evm.ts'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { exactJson } from '../../src/platform/exactJson.ts'
import { createRecordWriter, toTransactionRecord } from '../../src/server/methods/createRecordWriter.ts'

/** Bytes as some version stored them, and the text that it wrote of them. Nothing here changes: indexes hold such bytes. */
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

/** Versions that did not know operations ignored the logs of failed transactions: that there are none is not known. */
const isIgnored = (record: Golden) =>
  /^0[23]/.test(record.bytes) &&
  record.text.includes('"status":4') &&
  decodeDetailed(chunkOf(record))[0]?.details.transfers === undefined

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
    const text = isIgnored(record) ? record.text.replace(',"transfers":[]', '') : record.text
    expect(String(writeRecords(chunkOf(record), attached))).toBe(text)
  }
})

it('records that are stored are read as values that give the same text and the same bytes', () => {
  for (const record of confirmed) {
    const [read] = decodeDetailed(chunkOf(record))
    if (read === undefined) throw new Error('nothing was read')
    const { transaction, details } = read
    const stored = isIgnored(record) ? { transfers: [] } : {}
    expect(encodeConfirmed(transaction, { ...stored, ...details }).toString('hex')).toBe(record.bytes)
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
