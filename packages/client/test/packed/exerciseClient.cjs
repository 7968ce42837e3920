/**
 * Uses every entry of the packed client against its own msw handlers, as a stranger's program would. CommonJS, and no
 * newer than Node 20, so that it runs beside both copies of the package.
 */
const assert = require('node:assert/strict')

const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
const solanaAddress = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2'
const baseUrl = 'https://rpc.example.com'
const credentials = { projectId: 'packed', serverKey: 'packed-key' }

/** @param entries The modules of this copy, by their names in the package, and msw's `setupServer`. */
exports.exerciseClient = async ({ main, fetch, actions, viem, kit, history, query, msw, setupServer }) => {
  const methods = {
    svc_getTransactionsByAddress: ({ chainId }) =>
      chainId === 5 ? msw.rpcFault('TOO_MANY_RESULTS') : undefined
  }
  const server = setupServer(
    ...msw.createHandlers({ baseUrl, credentials: { projectId: 'packed', key: 'packed-key' }, methods })
  )
  server.listen()
  try {
    for (const { createClient, RpcError, isConfirmed } of [main, fetch]) {
      const client = createClient({ baseUrl, ...credentials, chainId: 1, int64: 'bigint' })
      const holdings = await client.getTokensAndNFTs({ address })
      assert.match(holdings.native, /^\d+$/)
      const solana = await client.enhancedGetTokensAndNFTs({ accountAddress: solanaAddress, chainId: 103 })
      assert.equal(typeof solana.lamports, 'bigint')
      const seen = []
      for await (const page of client.iterateTransactions({ address, limit: 3 })) seen.push(...page)
      assert.ok(seen.some(record => isConfirmed(record)))
      const error = await client.getTransactionsByAddress({ address, chainId: 5 }).catch(caught => caught)
      assert.ok(error instanceof RpcError)
      assert.equal(error.reason, 'TOO_MANY_RESULTS')
      const options = query.getTokensAndNFTsQuery(client, { address, chainId: 1 })
      assert.deepEqual(await options.queryFn({ signal: new AbortController().signal }), holdings)
      const list = history.createLiveHistory(client, { address, chainId: 1, pageSize: 3 })
      const stop = list.subscribe(() => {})
      await list.refresh()
      assert.equal(list.getSnapshot().records.length, 3)
      stop()
      const connection = actions.createConnection({ baseUrl, ...credentials, chainId: 1 })
      assert.deepEqual(await actions.getTokensAndNFTs(connection, { address }), holdings)
      const extension = viem.chainDataActions({ baseUrl, ...credentials })({ chain: { id: 1 } })
      assert.deepEqual(await extension.getTokensAndNFTs({ address }), holdings)
      const { chainData } = kit.chainData({ baseUrl, ...credentials, chainId: 103 })({})
      const account = await chainData.enhancedGetTokensAndNFTs({ accountAddress: solanaAddress })
      assert.deepEqual(account, solana)
      for (const { RpcError: own } of [actions, viem, kit]) assert.equal(own, RpcError)
    }
  } finally {
    server.close()
  }
}
