import { encodeMetadata, type MetaplexMetadata, metadataAddress, metadataProgram } from '@chain-data/devnet'
import { PublicKey } from '@solana/web3.js'
import { TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { mintBytes, tokenAccountBytes } from './accountBytes.ts'
import { answerOf, errorOf, type Reaction, type RpcCall } from './startScriptedNode.ts'

/** An account with many token accounts, each of a mint of its own, and a node's answers about it. */
export interface LargeAccount {
  readonly address: string
  /** Base units by mint; the n-th mint has n + 1, the last one all that fits. */
  readonly amounts: ReadonlyMap<string, bigint>
  /** Mints that are NFTs with metadata. */
  readonly nfts: ReadonlySet<string>
  react(call: RpcCall): Reaction
}

export interface LargeAccountOptions {
  readonly tokenAccounts: number
  /** Every so many-th is an NFT; making one takes time. */
  readonly nftEvery: number
  /** Accounts of different numbers here have nothing in common. Default 0. */
  readonly kinds?: number
}

const u64Max = 2n ** 64n - 1n

/** The same for the same options. Answers have the shape and size of a real node's. */
export function createLargeAccount({
  tokenAccounts,
  nftEvery,
  kinds = 0
}: LargeAccountOptions): LargeAccount {
  const owner = keyOf(kinds + 9, 0)
  const address = owner.toBase58()
  const amounts = new Map<string, bigint>()
  const nfts = new Set<string>()
  const accounts = new Map<string, string>()
  const items: string[] = []
  for (let n = 0; n < tokenAccounts; n++) {
    const mint = keyOf(kinds + 5, n)
    const name = mint.toBase58()
    const isNft = n % nftEvery === nftEvery - 1
    const amount = isNft ? 1n : n === tokenAccounts - 2 ? u64Max : BigInt(n + 1)
    amounts.set(name, amount)
    const supply = isNft ? 1n : u64Max
    accounts.set(name, accountJson(mintBytes({ supply, decimals: isNft ? 0 : 6 }), TOKEN_PROGRAM))
    if (isNft) {
      nfts.add(name)
      const metadata = encodeMetadata(metadataOf(name, n), 679)
      accounts.set(metadataAddress(name), accountJson(metadata, metadataProgram.toBase58()))
    }
    const account = accountJson(tokenAccountBytes(mint, owner, amount), TOKEN_PROGRAM)
    items.push(`{"account":${account},"pubkey":"${keyOf(kinds + 6, n).toBase58()}"}`)
  }
  const list = `[${items.join()}]`

  return {
    address,
    amounts,
    nfts,
    react(call) {
      const [first, second] = call.params
      if (call.method === 'getBalance') return answerOf(call, String(u64Max))
      if (call.method === 'getMultipleAccounts') {
        return answerOf(call, `[${(first as string[]).map(key => accounts.get(key) ?? 'null').join()}]`)
      }
      if (call.method !== 'getTokenAccountsByOwner') return errorOf(call, -32601)
      const isMeant = first === address && (second as { programId: string }).programId === TOKEN_PROGRAM
      return answerOf(call, isMeant ? list : '[]')
    }
  }
}

/** The n-th key of a kind. */
function keyOf(kind: number, n: number): PublicKey {
  const bytes = Buffer.alloc(32, kind)
  bytes.writeUInt32LE(n, 1)
  return new PublicKey(bytes)
}

function metadataOf(mint: string, n: number): MetaplexMetadata {
  return {
    ...{ updateAuthority: TOKEN_PROGRAM, mint, name: `Piece ${n}`, symbol: 'PIECE' },
    ...{ uri: `https://pieces.test/${n}.json`, sellerFeeBasisPoints: 500, tokenStandard: 0 },
    ...{ primarySaleHappened: true, isMutable: true }
  }
}

function accountJson(data: Buffer, owner: string): string {
  return `{"data":["${data.toString('base64')}","base64"],"executable":false,"lamports":2039280,"owner":"${owner}","rentEpoch":18446744073709551615,"space":${data.length}}`
}
