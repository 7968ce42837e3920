import type { ConfirmedTransaction } from '../../model/evm.ts'
import { writeConfirmed } from '../record/record.ts'
import { ByteWriter } from '../record/recordBytes.ts'
import type { RecordDetails } from '../record/transfers.ts'

/** One record by itself. @param details - absent: it has none. */
export function encodeConfirmed(
  transaction: ConfirmedTransaction,
  details: Partial<RecordDetails> = {}
): Buffer {
  const writer = new ByteWriter(256)
  writeConfirmed(writer, transaction, { transfers: [], operations: [], ...details })
  return writer.finish()
}
