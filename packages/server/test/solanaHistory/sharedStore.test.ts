import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type RunningCommand, runCommand } from '../cli/runCommand.ts'
import { type ScriptedNode, startScriptedNode } from '../solana/startScriptedNode.ts'
import { startSolanaService } from '../solana/startSolanaService.ts'
import { engines } from '../support/testStores.ts'
import { askCertificate, askHistory } from './askHistory.ts'
import { createValidator } from './scripted/createValidator.ts'
import { playLargeWallet } from './scripted/playLargeWallet.ts'

const { ledger, wallet } = playLargeWallet({ tokenAccounts: 5, transactions: 60 })

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A server in a process of its own. */
async function startProcess(store: string, node: ScriptedNode): Promise<RunningCommand & { url: string }> {
  const { path, remove } = await temporaryFolder()
  const command = runCommand(['serve'], {
    ...{ TMPDIR: path, CHAIN_DATA_PORT: '0', CHAIN_DATA_STORE: store },
    ...{ CHAIN_DATA_PROJECT: 'demo:demo-server-key', CHAIN_DATA_SOLANA_103: node.url }
  })
  open.push({
    async close() {
      command.child.kill('SIGKILL')
      await command.ended
      await remove()
    }
  })
  const listening = () => command.logLines().find(({ msg }) => msg === 'listening')?.url
  return { ...command, url: String(await eventually('it listens', listening, 30_000)) }
}

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

async function callProcess(url: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(`${url}/solana`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, chainId: 103, method: 'enhancedGetTransactionsByAddress', params }
    })
  })
  return ((await response.json()) as { result: unknown }).result
}

const withoutSlots = ({ calls }: ScriptedNode) =>
  calls
    .filter(({ method, params }) => method !== 'getSlot' && (method !== 'getBalance' || params[0] === wallet))
    .map(({ method }) => method)

describe.each(engines)('two processes over one store of $name', ({ create }) => {
  it('read what is final once', async () => {
    const store = await create()
    open.push({ close: store.remove })
    const node = await startScriptedNode(createValidator(ledger))
    open.push(node)
    const service = await startSolanaService({ rpcUrls: [node.url] }, { store: store.url })
    open.push(service)
    const other = await startProcess(store.url, node)
    const first = (await callProcess(other.url, [wallet, { limit: 10 }])) as {
      transactions: { signature: string }[]
    }
    const page = { limit: 10, before: first.transactions.at(-1)!.signature }
    const second = await callProcess(other.url, [wallet, page])
    expect(first.transactions).toHaveLength(10)
    other.child.kill('SIGTERM')
    expect(await other.ended).toBe(0)
    node.calls.length = 0
    expect(await askHistory(service, wallet, page)).toEqual(second)
    expect(withoutSlots(node)).toEqual([])
    // Later than the newest page is given again.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    const { transactions } = await askHistory(service, wallet, { limit: 10 })
    expect(transactions).toEqual(first.transactions)
    expect(withoutSlots(node)).not.toContain('getTransaction')
    expect((await askCertificate(service, wallet)).verdict).toBe('proven')
  })
})
