import { openPostgresWriter, startPostgres } from '@chain-data/index/test'
import pg from 'pg'
import { type Block, type Problem, placeOf } from './readBlocks.ts'

/** Runs every statement of the blocks, in order, as the superuser of a new PostgreSQL that holds an index of chain 1. */
export async function runSql(blocks: readonly Block[]): Promise<Problem[]> {
  const postgres = await startPostgres()
  try {
    const url = await postgres.createDatabase()
    const writer = await openPostgresWriter(url, { chainId: 1, genesisHash: `0x${'11'.repeat(32)}` })
    await writer.close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const problems: Problem[] = []
    for (const block of blocks) {
      // One by one: some statements may not share a transaction.
      for (const statement of block.code.split(/;$/m)) {
        await client.query(statement).catch((error: Error) => {
          problems.push({ at: placeOf(block), message: `${error.message}:${statement}` })
        })
      }
    }
    await client.end()
    return problems
  } finally {
    await postgres.stop()
  }
}
