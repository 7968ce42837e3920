import type { ConfirmedTransaction } from '../../model/evm.ts'
import { writeConfirmed } from '../record/record.ts'
import { ByteWriter } from '../record/recordBytes.ts'
import type { RecordDetails } from '../record/transfers.ts'

/** One record by itself. */
export function encodeConfirmed(transaction: ConfirmedTransaction, details?: RecordDetails): Buffer {
  const writer = new ByteWriter(256)
  writeConfirmed(writer, transaction, details)
  return writer.finish()
}
