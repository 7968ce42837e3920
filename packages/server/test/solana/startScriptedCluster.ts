import { createHash } from 'node:crypto'
import { encodeMetadata, type MetaplexMetadata, metadataAddress } from '@chain-data/devnet'
import { PublicKey } from '@solana/web3.js'
import { formatSolanaAddress, METAPLEX_PROGRAM, TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { mintBytes, tokenAccountBytes } from './accountBytes.ts'
import {
  answerOf,
  errorOf,
  type Reaction,
  type RpcCall,
  type ScriptedNode,
  startScriptedNode
} from './startScriptedNode.ts'

export interface ScriptedAccount {
  readonly owner: string
  readonly data: Uint8Array
}

/** A node that serves these accounts and nothing else: for what needs no real program, also where surfpool has no build. */
export interface ScriptedCluster extends ScriptedNode {
  readonly accounts: Map<string, ScriptedAccount>
}

/** An address by its name, the same on every run. */
export const addressOf = (name: string) => formatSolanaAddress(createHash('sha256').update(name).digest())

/** The slot of every answer. */
export const clusterSlot = 100

export async function startScriptedCluster(): Promise<ScriptedCluster> {
  const accounts = new Map<string, ScriptedAccount>()
  return Object.assign(await startScriptedNode(call => answerFrom(accounts, call)), { accounts })
}

/** Puts an NFT of the SPL Token program there: token account, mint and Metaplex metadata. */
export function putNft(
  accounts: Map<string, ScriptedAccount>,
  { owner, name, uri }: { readonly owner: string; readonly name: string; readonly uri: string }
): { readonly mint: string; readonly account: string } {
  const [mint, account] = [addressOf(`mint ${name}`), addressOf(`account ${name}`)]
  const metadata: MetaplexMetadata = {
    ...{ updateAuthority: owner, mint, name, symbol: 'S', uri, sellerFeeBasisPoints: 0 },
    ...{ primarySaleHappened: false, isMutable: true, tokenStandard: 0 }
  }
  accounts.set(account, {
    owner: TOKEN_PROGRAM,
    data: tokenAccountBytes(new PublicKey(mint), new PublicKey(owner))
  })
  accounts.set(mint, { owner: TOKEN_PROGRAM, data: mintBytes({ supply: 1n, decimals: 0 }) })
  accounts.set(metadataAddress(mint), { owner: METAPLEX_PROGRAM, data: encodeMetadata(metadata, 679) })
  return { mint, account }
}

/** What a node would answer to one of the calls that holdings need. */
export function answerFrom(accounts: ReadonlyMap<string, ScriptedAccount>, call: RpcCall): Reaction {
  const [first, second] = call.params as [unknown, never]
  const answer = (value: string) => answerOf(call, value, clusterSlot)
  const list = (found: [string, ScriptedAccount][]) =>
    answer(
      `[${found.map(([pubkey, account]) => `{"pubkey":"${pubkey}","account":${jsonOf(account)}}`).join()}]`
    )
  switch (call.method) {
    case 'getBalance':
      return answer('5')
    case 'getMultipleAccounts':
      return answer(
        `[${(first as string[]).map(key => (accounts.has(key) ? jsonOf(accounts.get(key)!) : 'null')).join()}]`
      )
    case 'getTokenAccountsByOwner': {
      const { programId } = second as { programId: string }
      return list(
        [...accounts].filter(
          ([, { owner, data }]) =>
            owner === programId && data.length >= 165 && formatSolanaAddress(data.subarray(32, 64)) === first
        )
      )
    }
    case 'getProgramAccounts': {
      const { filters } = second as { filters: { memcmp: { offset: number; bytes: string } }[] }
      const fits = ({ data }: ScriptedAccount) =>
        filters.every(({ memcmp: { offset, bytes } }) => {
          const length = bytes.length > 30 ? 32 : 1
          return formatSolanaAddress(data.subarray(offset, offset + length)) === bytes
        })
      return list([...accounts].filter(([, account]) => account.owner === first && fits(account)))
    }
    default:
      return errorOf(call, -32_601)
  }
}

function jsonOf({ owner, data }: ScriptedAccount): string {
  const text = Buffer.from(data).toString('base64')
  return `{"data":["${text}","base64"],"executable":false,"lamports":1,"owner":"${owner}","rentEpoch":0,"space":${data.length}}`
}
