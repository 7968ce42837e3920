/**
 * Records what a real Solana node answers about the accounts of the seeded world, for machines where that node cannot
 * run. Writes `test/solana/recordings/<owner>.json`:
 *
 *     node --conditions=@chain-data/source packages/server/scripts/recordSolanaAnswers.ts
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  expectedSolanaHoldings,
  type SolanaWorld,
  seedSolanaWorld,
  solanaOwner,
  startSurfpool
} from '@chain-data/devnet'
import { findElements, findMembers } from '../src/nodes/solana/jsonExtents.ts'
import { comparable } from '../test/solana/comparable.ts'
import type { Recording } from '../test/solana/replayNode.ts'
import { startScriptedNode } from '../test/solana/startScriptedNode.ts'
import { startSolanaService } from '../test/solana/startSolanaService.ts'

const owners = ['alice', 'bob', 'carol', 'dora']

const surfpool = await startSurfpool()
try {
  const { world, connection } = await seedSolanaWorld(surfpool, { seed: 5 })
  const version = Object.values(await connection.getVersion())[0]
  for (const owner of owners) {
    const recording = await record(world, owner, `surfpool, solana-core ${String(version)}`)
    const file = fileURLToPath(new URL(`../test/solana/recordings/${owner}.json`, import.meta.url))
    writeFileSync(file, `${JSON.stringify(recording, undefined, 2)}\n`)
    process.stdout.write(`${owner}: ${Object.keys(recording.accounts).length} accounts\n`)
  }
} finally {
  await surfpool.stop()
}

/** Asks the service once and keeps what it asked of the node. */
async function record(world: SolanaWorld, owner: string, node: string): Promise<Recording> {
  const { address } = solanaOwner(world, owner)
  const expected = comparable(expectedSolanaHoldings(world, owner, { parseMetadataUri: false, origin: '' }))
  const answers: { readonly method: string; readonly params: readonly unknown[]; readonly text: string }[] =
    []
  const keeper = await startScriptedNode(({ method, params }) => ({
    passOn: surfpool.rpcUrl,
    change(text) {
      answers.push({ method, params, text })
      return text
    }
  }))
  const service = await startSolanaService({ rpcUrls: [keeper.url] })
  await service.holdings(address)
  await service.close()
  await keeper.close()

  const recording = { balance: '', tokenAccounts: {}, accounts: {} } as {
    balance: string
    tokenAccounts: Record<string, string[]>
    accounts: Record<string, string>
  }
  for (const { method, params, text } of answers) {
    const value = await findValue(text)
    const [first, second] = params
    if (method === 'getBalance') recording.balance = value
    else if (method === 'getMultipleAccounts') {
      const items = await itemsOf(value)
      for (const [at, key] of (first as string[]).entries()) recording.accounts[key] = items[at] ?? 'null'
    } else recording.tokenAccounts[(second as { programId: string }).programId] = await itemsOf(value)
  }
  return { node, address, slot: 100, ...recording, expected }
}

async function findValue(text: string): Promise<string> {
  const json = { text, checkYield: () => undefined }
  const { members } = await findMembers(json, 0)
  const inner = await findMembers(json, members.get('result')?.start ?? 0)
  const { start, end } = inner.members.get('value') ?? { start: 0, end: 0 }
  return text.slice(start, end)
}

async function itemsOf(text: string): Promise<string[]> {
  const items: string[] = []
  for await (const { start, end } of findElements({ text, checkYield: () => undefined }, 0)) {
    items.push(text.slice(start, end))
  }
  return items
}
