import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { describeTransaction } from '../store/transaction.contract.ts'
import { indexTables } from './indexTables.ts'
import { openForReading, openForWriting } from './open.ts'
import { createReadTransaction, createWritableStore } from './transaction.ts'

for (const driver of availableSqliteDrivers()) {
  describeTransaction(`sqlite over ${driver.name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chain-data-transaction-'))
    const path = join(folder, 'index.sqlite')
    const connection = openForWriting(driver, path)
    connection.exec(indexTables)
    const store = createWritableStore(connection)
    const reader = openForReading(driver, path)
    return {
      store,
      read: work => work(createReadTransaction(reader)),
      dispose: async () => {
        reader.close()
        await store.close()
        rmSync(folder, { recursive: true, force: true })
      }
    }
  })
}
