import { id, verifyAuthorization } from 'ethers'
import type { CertifiedWorld } from '../certificate/startCertifiedWorld.ts'

interface Raw {
  readonly [member: string]: unknown
}
interface RawTransaction extends Raw {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly nonce: string
}
interface RawLog {
  readonly topics: readonly string[]
}

const transfer = id('Transfer(address,address,uint256)')
const operation = id('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)')
const addressIn = (topic = '') => `0x${topic.slice(-40)}`

/**
 * Reads a whole chain by plain calls, and says which transactions each address is associated with: an own reading of what the
 * interface says, which shares no code with the server. Knows the tokens that it meets here, and no traces.
 *
 * @returns hashes by address in lower case, newest first.
 */
export async function scanChain(rpc: CertifiedWorld['rpc']): Promise<ReadonlyMap<string, readonly string[]>> {
  const histories = new Map<string, string[]>()
  const nonces = new Map<string, bigint>()
  const nonceOf = (address: string) => nonces.get(address.toLowerCase()) ?? 0n
  const head = Number(await rpc('eth_blockNumber'))
  for (let number = 0; number <= head; number++) {
    const block = (await rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, true)) as Raw
    for (const transaction of block.transactions as readonly RawTransaction[]) {
      const receipt = (await rpc('eth_getTransactionReceipt', transaction.hash)) as Raw
      nonces.set(transaction.from.toLowerCase(), BigInt(transaction.nonce) + 1n)
      const parties = [transaction.from, transaction.to, receipt.contractAddress as string | null]
      for (const { topics } of receipt.logs as readonly RawLog[]) {
        if (topics[0] === transfer) parties.push(addressIn(topics[1]), addressIn(topics[2]))
        if (topics[0] === operation) parties.push(addressIn(topics[2]))
      }
      for (const tuple of (transaction.authorizationList ?? []) as readonly Record<string, string>[]) {
        const { address = '', chainId = '', nonce = '', r = '', s = '', yParity } = tuple
        const word = (value: string) => `0x${value.slice(2).padStart(64, '0')}`
        const signature = { r: word(r), s: word(s), yParity: Number(yParity) as 0 | 1 }
        const signed = { address, chainId: BigInt(chainId), nonce: BigInt(nonce) }
        const authority = verifyAuthorization(signed, signature)
        if (![0n, 31337n].includes(signed.chainId) || signed.nonce !== nonceOf(authority)) continue
        nonces.set(authority.toLowerCase(), signed.nonce + 1n)
        parties.push(authority)
      }
      for (const party of new Set(parties.filter(each => each !== null).map(each => each.toLowerCase()))) {
        histories.set(party, [transaction.hash, ...(histories.get(party) ?? [])])
      }
    }
  }
  return histories
}
