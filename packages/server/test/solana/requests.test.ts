import { afterEach, describe, expect, it } from 'vitest'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../src/nodes/solana/rpc.ts'
import { createSolanaHoldings } from '../../src/solana/holdings/holdings.ts'
import { createLargeAccount, type LargeAccount } from './largeAccount.ts'
import { type RpcCall, type ScriptedNode, startScriptedNode } from './startScriptedNode.ts'

const nodes: ScriptedNode[] = []
afterEach(() => Promise.all(nodes.splice(0).map(node => node.close())))

async function startNode(account: LargeAccount): Promise<ScriptedNode> {
  const node = await startScriptedNode(account.react)
  nodes.push(node)
  return node
}

const rpcOf = (node: ScriptedNode) =>
  createSolanaRpc({ nodes: createSolanaNodes({ rpcUrls: [node.url] }), commitment: 'finalized' })
const methodsOf = (calls: readonly RpcCall[]) => calls.map(({ method }) => method)
const [balance, owned, mints] = ['getBalance', 'getTokenAccountsByOwner', 'getMultipleAccounts']

describe('the calls that one account costs', () => {
  it.each([
    [0, 0],
    [1, 1],
    [50, 1],
    [51, 2],
    [100, 2],
    [120, 3]
  ])('with %i mints are three and %i, whether they are NFTs or not', async (tokenAccounts, lookups) => {
    for (const nftEvery of [1, 1_000]) {
      const account = createLargeAccount({ tokenAccounts, nftEvery })
      const node = await startNode(account)
      const { readHoldings } = createSolanaHoldings({ rpc: rpcOf(node) })
      const { nfts, tokens } = await readHoldings({ accountAddress: account.address })
      expect([nfts.length, tokens.length]).toEqual(nftEvery === 1 ? [tokenAccounts, 0] : [0, tokenAccounts])
      expect(methodsOf(node.calls).sort()).toEqual(
        [balance, ...Array<string>(lookups).fill(mints!), owned, owned].sort()
      )
    }
  })

  it('all name the commitment, and those for mints the slot of the first three', async () => {
    const account = createLargeAccount({ tokenAccounts: 60, nftEvery: 1_000 })
    const node = await startNode(account)
    await createSolanaHoldings({ rpc: rpcOf(node) }).readHoldings({ accountAddress: account.address })
    for (const { method, params } of node.calls) {
      const config = params.at(-1)
      expect(config).toMatchObject({ commitment: 'finalized' })
      expect(config).toMatchObject(method === mints ? { minContextSlot: 100 } : {})
    }
  })

  it('are never sent as a batch, nor more than four of those for mints at the same time', async () => {
    const account = createLargeAccount({ tokenAccounts: 400, nftEvery: 1_000 })
    const node = await startNode(account)
    const rpc = rpcOf(node)
    let underWay = 0
    let most = 0
    const counted: typeof rpc = {
      ...rpc,
      async getMultipleAccounts(...query) {
        most = Math.max(most, ++underWay)
        try {
          return await rpc.getMultipleAccounts(...query)
        } finally {
          underWay--
        }
      }
    }
    const { readHoldings } = createSolanaHoldings({ rpc: counted })
    await readHoldings({ accountAddress: account.address })
    // From now on the addresses of the metadata are known: all calls that may begin do so before any answer comes.
    most = 0
    node.calls.length = 0
    await readHoldings({ accountAddress: account.address })
    expect(most).toBe(4)
    // A batch would have come as a list, which has no method.
    expect(methodsOf(node.calls).filter(method => method !== undefined)).toHaveLength(3 + 400 / 50)
  })
})
