/**
 * One way, once, in a process of its own: `measureOne.ts <way> <rpc url> <address> <small address>`. Tells the parent
 * what it cost.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { PublicKey } from '@solana/web3.js'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../src/nodes/solana/rpc.ts'
import { METAPLEX_PROGRAM, TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { createServer } from '../../src/server/start/createServer.ts'
import {
  createMetadataAddresses,
  type MetadataAddresses
} from '../../src/solana/holdings/metadataAddresses.ts'
import { readOwned } from '../../src/solana/holdings/readOwned.ts'
import { createLibraryRpc } from './libraryRpc.ts'

/** What one way cost. */
export interface Cost {
  readonly totalMs: number
  /** Time that the main thread really ran. */
  readonly cpuMs: number
  /** The longest stretch of it in which nothing else could run. Not wall time: a busy machine would be counted too. */
  readonly longestBlockMs: number
  /** The most memory that the process had at any time. */
  readonly peakMiB: number
}

const [way = '', rpcUrl = '', address = '', smallAddress = ''] = process.argv.slice(2)

const own = createSolanaRpc({ nodes: createSolanaNodes({ rpcUrls: [rpcUrl] }), commitment: 'confirmed' })
const library = createLibraryRpc(rpcUrl)

/** Each portion of 50 derived in one go. */
const atOnce: MetadataAddresses = {
  async find(mints) {
    const program = new PublicKey(METAPLEX_PROGRAM)
    return mints.map(mint => {
      const seeds = [Buffer.from('metadata'), program.toBytes(), new PublicKey(mint).toBytes()]
      return PublicKey.findProgramAddressSync(seeds, program)[0].toBase58()
    })
  }
}

const ways: Record<string, () => Promise<(owner: string) => Promise<unknown>>> = {
  'token accounts, library': async () => owner => library.getTokenAccountsByOwner(owner, TOKEN_PROGRAM),
  'token accounts, own reader': async () => owner => own.getTokenAccountsByOwner(owner, TOKEN_PROGRAM),
  'all accounts, library': async () => owner =>
    readOwned({ rpc: library, metadataAddresses: atOnce, maxConcurrentCalls: 4 }, owner, {}),
  'all accounts, own reader': async () => owner =>
    readOwned({ rpc: own, metadataAddresses: createMetadataAddresses(), maxConcurrentCalls: 4 }, owner, {}),
  'whole server': async () => {
    const server = await createServer({
      store: 'sqlite::memory:',
      projects: [{ projectId: 'bench', serverKey: 'bench-server-key' }],
      chains: { solana: [{ chainId: 103, dev: true, rpcUrls: [rpcUrl] }] },
      log: { level: 'silent' }
    })
    process.once('disconnect', () => process.exit(0))
    return async owner => {
      const body = {
        jsonrpc: '2.0',
        id: 1,
        chainId: 103,
        method: 'enhancedGetTokensAndNFTs',
        params: [owner]
      }
      const request = new Request('http://bench.test/solana', {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa('bench:bench-server-key')}`,
          'content-type': 'application/json'
        },
        body: JSON.stringify(body)
      })
      const text = await (await server.fetch(request)).text()
      if (!text.includes('"result"')) throw new Error(text.slice(0, 200))
    }
  }
}

const prepare = ways[way]
if (prepare === undefined) throw new Error(`no way is called ${way}`)
const read = await prepare()
// The code is compiled and the connection is there; nothing of the large account is known yet.
for (let times = 0; times < 5; times++) await read(smallAddress)
globalThis.gc?.()
await sleep(50)

function cpuNow(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let longestBlockMs = 0
let isDone = false
const watched = (async () => {
  for (let before = cpuNow(); !isDone; ) {
    await new Promise(resolve => setImmediate(resolve))
    const now = cpuNow()
    longestBlockMs = Math.max(longestBlockMs, now - before)
    before = now
  }
})()
const begun = performance.now()
const begunCpu = cpuNow()
await read(address)
const totalMs = performance.now() - begun
const cpuMs = cpuNow() - begunCpu
isDone = true
await watched
const cost: Cost = { totalMs, cpuMs, longestBlockMs, peakMiB: process.resourceUsage().maxRSS / 1024 }
process.send?.(cost, () => process.exit(0))
