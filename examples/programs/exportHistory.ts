/**
 * The history of an account as CSV, in the memory of one page, however long it is:
 *
 *     node exportHistory.ts 0x7099… > history.csv
 *
 * Only final blocks are written: no reorg changes them, so a file never holds a row that the chain took back. An export that was
 * interrupted goes on behind the hash of its last line: `node exportHistory.ts 0x7099… 0x8d11… >> history.csv`.
 */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { type ChainOptional, type Client, createClient, isConfirmed } from '@chain-data/client/fetch'

const columns = ['hash', 'block', 'time', 'from', 'to', 'wei', 'fee', 'failed']

/**
 * @param before - Hash of the last record that was written already.
 * @returns How many records were written.
 * @throws {RpcError} `CURSOR_REORGED` where a reorg removed a record of the first pages, before anything final was read: start again.
 */
export async function exportHistory(
  client: Pick<Client<ChainOptional>, 'getSyncStatus' | 'iterateTransactions'>,
  address: string,
  output: Writable,
  before?: string
): Promise<number> {
  const { finalized = -1 } = await client.getSyncStatus({})
  let count = 0
  if (before === undefined) output.write(`${columns.join()}\n`)
  for await (const page of client.iterateTransactions({ address, limit: 1000, before })) {
    let lines = ''
    for (const record of page) {
      if (!isConfirmed(record) || record.blockNumber === undefined || record.blockNumber > finalized) continue
      const { hash, blockNumber, timestamp, from, to = '', value, fees, status } = record
      const time = new Date(timestamp * 1000).toISOString()
      lines += `${[hash, blockNumber, time, from, to, BigInt(value), fees && BigInt(fees), status && status === 4].join()}\n`
      count++
    }
    // The next page is asked for when this one is written.
    if (!output.write(lines)) await once(output, 'drain')
  }
  return count
}

if (process.argv[1] === import.meta.filename) {
  const [, , address = '', before] = process.argv
  const client = createClient({
    baseUrl: process.env.CHAIN_DATA_URL ?? 'http://127.0.0.1:8080',
    projectId: 'demo',
    serverKey: process.env.CHAIN_DATA_SERVER_KEY ?? 'demo-server-key',
    chainId: 31337
  })
  const count = await exportHistory(client, address, process.stdout, before)
  process.stderr.write(`${count} records\n`)
}
