import type { ConfirmedTransaction } from '../src/model/evm.ts'
import { writeConfirmed } from '../src/record/record.ts'
import { ByteWriter } from '../src/record/recordBytes.ts'
import type { RecordDetails } from '../src/record/transfers.ts'

/** One record by itself. @param details - absent: it has none. */
export function encodeConfirmed(
  transaction: ConfirmedTransaction,
  details: Partial<RecordDetails> = {}
): Buffer {
  const writer = new ByteWriter(256)
  writeConfirmed(writer, transaction, { transfers: [], operations: [], ...details })
  return writer.finish()
}
