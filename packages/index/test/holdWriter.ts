/**
 * A program of its own, or a worker thread, for tests of writers elsewhere: opens the writer, commits a block, says so
 * and stays. Arguments: folder, chain id, genesis hash, name of the driver.
 */
import { parentPort } from 'node:worker_threads'
import type { Hash } from '../src/model/evm.ts'
import { openSqliteWriter } from '../src/sqlite/openWriter.ts'
import { availableSqliteDrivers } from './availableSqliteDrivers.ts'
import { buildChain, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'

const [folder = '', chainId = '0', genesisHash = '0x', driverName] = process.argv.slice(2)
const driver = availableSqliteDrivers().find(({ name }) => name === driverName)
if (driver === undefined) throw new Error(`no driver ${driverName}`)
const writer = await openSqliteWriter(
  folder,
  { chainId: Number(chainId), genesisHash: genesisHash as Hash },
  { driver }
)
await commitChain(writer, buildChain([[{ name: 'a', parties: people.slice(0, 2) }]]))
if (parentPort === null) process.stdout.write('held\n')
else parentPort.postMessage('held')
// Out of reach it would be collected as garbage, and its lock with it.
setInterval(() => writer.state(), 1000)
