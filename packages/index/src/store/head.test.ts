import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { indexTables } from '../sqlite/indexTables.ts'
import { createWritableStore } from '../sqlite/transaction.ts'
import { describeHead } from './head.contract.ts'

for (const driver of availableSqliteDrivers()) {
  describeHead(`sqlite over ${driver.name}`, async () => {
    const connection = driver.open(':memory:', { busyTimeoutMs: 1000 })
    connection.exec(indexTables)
    return createWritableStore(connection)
  })
}
