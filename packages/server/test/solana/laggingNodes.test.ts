import { afterEach, describe, expect, it } from 'vitest'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../src/nodes/solana/rpc.ts'
import { TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { NodeUnavailableError } from '../../src/platform/errors.ts'
import { createSolanaHoldings } from '../../src/solana/holdings/holdings.ts'
import { createLargeAccount } from './largeAccount.ts'
import {
  answerOf,
  errorOf,
  type Reaction,
  type RpcCall,
  type ScriptedNode,
  startScriptedNode
} from './startScriptedNode.ts'

const open: ScriptedNode[] = []
afterEach(() => Promise.all(open.splice(0).map(node => node.close())))

async function start(react: (call: RpcCall) => Reaction): Promise<ScriptedNode> {
  const node = await startScriptedNode(react)
  open.push(node)
  return node
}

const rpcOf = (...nodes: ScriptedNode[]) =>
  createSolanaRpc({
    nodes: createSolanaNodes({ rpcUrls: nodes.map(({ url }) => url), backoffMs: 1 }),
    commitment: 'confirmed'
  })

/** How nodes say that they are not there yet: as the others do, as some hosts do, and by an older answer. */
const ways: [string, (call: RpcCall) => Reaction][] = [
  ['error -32016', call => errorOf(call, -32016)],
  ['error -32603', call => errorOf(call, -32603)],
  ['error -32005', call => errorOf(call, -32005)],
  ['an older slot', call => answerOf(call, '41', 99)]
]

describe.each(ways)('a node that is behind, by %s', (_way, lag) => {
  it('is waited for while it catches up, or while another one behind its address is met', async () => {
    let left = 10
    const node = await start(call => (left-- > 0 ? lag(call) : answerOf(call, '42', 100)))
    const read = rpcOf(node).getBalance(TOKEN_PROGRAM, { minContextSlot: 100 })
    expect(await read).toEqual({ slot: 100, value: 42n })
  })

  it('is given up when it does not', async () => {
    const node = await start(lag)
    const read = rpcOf(node).getBalance(TOKEN_PROGRAM, { minContextSlot: 100 })
    await expect(read).rejects.toThrow(NodeUnavailableError)
    expect(node.calls).toHaveLength(15)
  })
})

it('a node that breaks off is not asked as often as one that is behind', async () => {
  const node = await start(() => 'reset')
  const read = rpcOf(node).getBalance(TOKEN_PROGRAM, { minContextSlot: 100 })
  await expect(read).rejects.toThrow(NodeUnavailableError)
  expect(node.calls).toHaveLength(3)
})

it('a large account is read through one address behind which two of three nodes are behind', async () => {
  const account = createLargeAccount({ tokenAccounts: 1_000, nftEvery: 1_000 })
  const asked = new Map<string, number>()
  const node = await start(call => {
    const { minContextSlot } = call.params.at(-1) as { minContextSlot?: number }
    const question = JSON.stringify(call.params)
    const times = (asked.get(question) ?? 0) + 1
    asked.set(question, times)
    // Each question meets the node that is not behind at its sixth try.
    return minContextSlot !== undefined && times < 6 ? errorOf(call, -32016) : account.react(call)
  })
  const holdings = createSolanaHoldings({ rpc: rpcOf(node) })
  const { tokens, incomplete } = await holdings.readHoldings({ accountAddress: account.address })
  expect(tokens).toHaveLength(999)
  expect(incomplete).toEqual([])
})
