/** A program of its own for tests of the writer's lock: opens the writer, commits a block, says so and stays. */
import { openSqliteWriter } from '../sqlite/openSqliteWriter.ts'
import { buildChain, people } from './buildChain.ts'

const [folder = '', chainId = '0', genesisHash = '0x'] = process.argv.slice(2)
const writer = await openSqliteWriter(folder, {
  chainId: Number(chainId),
  genesisHash: genesisHash as `0x${string}`
})
await writer.commitBlocks(buildChain([[{ name: 'a', parties: people.slice(0, 2) }]]))
process.stdout.write('held\n')
setInterval(() => {}, 1000)
