// @ts-nocheck What this imports is installed beside a copy of this folder only.
import { readFileSync } from 'node:fs'
import { createConfig } from 'ponder'
import { http, parseAbi } from 'viem'

const { BENCH_NODE, BENCH_SUBJECT, BENCH_LAST_BLOCK, BENCH_SENDERS, BENCH_PGLITE, BENCH_POSTGRES } =
  process.env

const range = { network: 'bench', startBlock: 0, endBlock: Number(BENCH_LAST_BLOCK) }

/** Every transfer of every token. */
const contracts = {
  Token: {
    ...range,
    abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 amount)'])
  }
}

/** Every transaction: there is no source for that, so every sender is named. */
const accounts = () => ({
  Sender: { ...range, address: JSON.parse(readFileSync(BENCH_SENDERS ?? '', 'utf8')) }
})

export default createConfig({
  database: BENCH_POSTGRES
    ? { kind: 'postgres', connectionString: BENCH_POSTGRES }
    : { kind: 'pglite', directory: BENCH_PGLITE },
  networks: {
    // The default of 50 requests a second would be what is measured.
    bench: { chainId: 31_337, transport: http(BENCH_NODE), maxRequestsPerSecond: 100_000 }
  },
  ...(BENCH_SUBJECT === 'transfers' ? { contracts } : { accounts: accounts() })
})
