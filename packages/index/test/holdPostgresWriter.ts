/**
 * A program of its own, for tests of writers elsewhere: opens the writer, says so and stays. Whenever a line comes in, it
 * commits a block and says what became of that. Arguments: URL, chain id, genesis hash, milliseconds of silence.
 */
import { createInterface } from 'node:readline'
import type { BlockRef, Hash } from '../src/model/evm.ts'
import { openPostgresWriter } from '../src/postgres/openWriter.ts'
import { buildChain, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'

const [url = '', chainId = '0', genesisHash = '0x', silentMs = '15000'] = process.argv.slice(2)
const writer = await openPostgresWriter(
  url,
  { chainId: Number(chainId), genesisHash: genesisHash as Hash },
  { silentMs: Number(silentMs) }
)
process.stdout.write('held\n')
const plan = [[{ name: 'held', parties: people.slice(0, 2) }]]
let parent: BlockRef | undefined
for await (const _ of createInterface(process.stdin)) {
  const blocks = buildChain(plan, parent === undefined ? {} : { parent })
  const outcome = await commitChain(writer, blocks).then(
    () => 'committed',
    (error: unknown) => (error instanceof Error ? error.name : 'failed')
  )
  if (outcome === 'committed') parent = blocks[0]?.ref
  process.stdout.write(`${outcome}\n`)
}
