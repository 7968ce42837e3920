import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createJsonRpc } from '../src/platform/jsonRpc.ts'
import { type SurfpoolNode, startSurfpool, surfpoolUnsupportedReason } from '../src/solana/startSurfpool.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

describe.skipIf(unsupported !== undefined)('a Solana node', () => {
  let node: SurfpoolNode

  beforeAll(async () => {
    node = await startSurfpool()
  })
  afterAll(() => node?.stop())

  it('goes on answering when more has happened than its queue of events holds', async () => {
    const rpc = createJsonRpc(node.rpcUrl)
    const receiver = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
    // Two events each; the queue holds 1,024. On its own the clock fills it in less than 80 seconds.
    const before = (await rpc('getBalance', receiver)) as { value: number }
    for (let lamports = 1; lamports <= 600; lamports++) await rpc('requestAirdrop', receiver, lamports)
    const after = (await rpc('getBalance', receiver)) as { value: number }
    expect(after.value - before.value).toBe((600 * 601) / 2)
  })
})
