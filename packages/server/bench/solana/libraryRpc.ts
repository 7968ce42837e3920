import { Connection, PublicKey } from '@solana/web3.js'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc, type SolanaRpc } from '../../src/nodes/solana/rpc.ts'

/** The other way: every call worded, checked and read by `Connection` of @solana/web3.js, as it comes out of the box. */
export function createLibraryRpc(rpcUrl: string): SolanaRpc {
  const connection = new Connection(rpcUrl, 'confirmed')
  const key = (address: string) => new PublicKey(address)
  return {
    ...createSolanaRpc({ nodes: createSolanaNodes({ rpcUrls: [rpcUrl] }), commitment: 'confirmed' }),
    async getBalance(address) {
      const { context, value } = await connection.getBalanceAndContext(key(address))
      return { slot: context.slot, value: BigInt(value) }
    },
    async getTokenAccountsByOwner(owner, programId) {
      const { context, value } = await connection.getTokenAccountsByOwner(key(owner), {
        programId: key(programId)
      })
      return {
        slot: context.slot,
        value: value.map(({ pubkey, account }) => ({
          address: pubkey.toBase58(),
          owner: account.owner.toBase58(),
          data: account.data
        }))
      }
    },
    async getMultipleAccounts(addresses) {
      const { context, value } = await connection.getMultipleAccountsInfoAndContext(addresses.map(key))
      return {
        slot: context.slot,
        value: value
          .map(account => account && { owner: account.owner.toBase58(), data: account.data })
          .map(account => account ?? undefined)
      }
    }
  }
}
