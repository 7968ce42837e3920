/** The newest transaction of an account and its receipt, from one client of viem. */
import { chainDataActions, isConfirmed } from '@chain-data/client/viem'
import { createPublicClient, formatEther, http, type TransactionReceipt } from 'viem'
import { anvil } from 'viem/chains'

/** A client of viem that also has `getTransactionsByAddress`, `getTokensAndNFTs` and the others. */
export const createExtendedClient = (nodeUrl: string, baseUrl: string, serverKey: string) =>
  createPublicClient({ chain: anvil, transport: http(nodeUrl) }).extend(
    chainDataActions({ baseUrl, projectId: 'demo', serverKey })
  )

/**
 * @returns `undefined` for an account without confirmed transactions.
 * @remarks The hash of a record is viem's `Hash`, its addresses are viem's `Address`: nothing is cast.
 */
export async function readNewestReceipt(
  client: ReturnType<typeof createExtendedClient>,
  address: string
): Promise<TransactionReceipt | undefined> {
  const records = await client.getTransactionsByAddress({ address, limit: 100 })
  const newest = records.find(record => isConfirmed(record))
  return newest && (await client.getTransactionReceipt({ hash: newest.hash }))
}

/** The balance as the service read it and as the node says at the same block. */
export async function compareBalance(
  client: ReturnType<typeof createExtendedClient>,
  address: `0x${string}`
): Promise<{ readonly service: string; readonly node: string }> {
  const { native, asOf } = await client.getTokensAndNFTs({ address })
  if (asOf === undefined) throw new Error('this host does not report the block of its answer')
  const wei = await client.getBalance({ address, blockNumber: BigInt(asOf.blockNumber) })
  return { service: formatEther(BigInt(native)), node: formatEther(wei) }
}
