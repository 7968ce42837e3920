// Compiled against the packed declarations and those of viem and kit, which need the DOM, as the route does.
import { type Connection, createConnection, getTokensAndNFTs } from '@chain-data/client/actions'
import { chainData } from '@chain-data/client/kit'
import { createRoute } from '@chain-data/client/route'
import { chainDataActions } from '@chain-data/client/viem'
import { type Address, createClient } from '@solana/kit'
import { createPublicClient, http } from 'viem'
import { mainnet } from 'viem/chains'

const options = { baseUrl: 'https://rpc.example.com', projectId: 'p', clientKey: 'k' }
const connection: Connection = createConnection(options)
const evm = createPublicClient({ chain: mainnet, transport: http() }).extend(chainDataActions(options))
const solana = createClient().use(chainData({ ...options, chainId: 101 }))

const access = { baseUrl: options.baseUrl, projectId: 'p', serverKey: 'k' }
export const route: (request: Request) => Promise<Response> = createRoute({
  ...access,
  allow: ['svc_getSyncStatus']
})

export async function use(address: string, accountAddress: Address): Promise<bigint> {
  const [newest] = await evm.getTransactionsByAddress({ address, limit: 1 })
  const { tokens, nfts } = await getTokensAndNFTs(connection, { address, chainId: 1 })
  // @ts-expect-error: a connection without a chain needs one in each call.
  await getTokensAndNFTs(connection, { address })
  // What the answers hold goes into viem and kit without a cast.
  if (newest) await evm.waitForTransactionReceipt({ hash: newest.hash })
  const balance = await evm.getBalance({ address: tokens[0]?.address ?? nfts[0]?.address ?? '0x' })
  const held = await solana.chainData.enhancedGetTokensAndNFTs({ accountAddress })
  const mint: Address | undefined = held.tokens[0]?.mint
  return balance + held.lamports + BigInt(mint?.length ?? 0)
}
