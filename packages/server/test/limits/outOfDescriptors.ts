/**
 * A process with few file descriptors, whose results are lines of JSON. `hold`: it uses up all of them, then reads the store
 * and asks the node, and both again once it has given them back. `listen`: it answers requests.
 */
import { closeSync, openSync } from 'node:fs'
import { openSqliteReader } from '@chain-data/index/test'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { listen } from '../../src/server/http/listen.ts'
import { toWireError } from '../../src/server/rpc/toWireError.ts'

const [mode, folder = '', nodeUrl = ''] = process.argv.slice(2)
const tell = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`)

async function outcomeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work()
    return 'answered'
  } catch (failure) {
    return toWireError(failure, { requestId: 'r-1', logger: silentLogger }).error.data
  }
}

async function readBoth(): Promise<unknown> {
  const rpc = createEvmRpc({ chainId: 31337, rpcUrls: [nodeUrl], timeoutMs: 2_000, maxAttempts: 1 })
  const reader = await openSqliteReader(folder, 31337)
  const store = await outcomeOf(async () => (await reader.openSnapshot()).close())
  const node = await outcomeOf(() => rpc.request({ method: 'eth_chainId', params: [] }))
  rpc.close()
  await reader.close()
  return { store, node }
}

if (mode === 'hold') {
  const held: number[] = []
  // What is loaded at the first use is loaded before.
  await readBoth()
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {
    tell(await readBoth())
  }
  for (const each of held) closeSync(each)
  tell(await readBoth())
  process.exit()
}
const listener = await listen({
  ...{ host: '127.0.0.1', port: 0, headerBytes: 16_384, socketIdleMs: 60_000 },
  handler: (_, response) => void response.end('served')
})
tell(listener.url)
