import { walkChain } from '../support/walkChain.ts'
import type { CertifiedWorld } from './startCertifiedWorld.ts'

type Trace = {
  readonly action: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>> | null
}

/** Every address that the chain has now had to do with: parties, those inside of transactions, fee recipients. Lower case. */
export async function everyAddress({ rpc }: CertifiedWorld, isTraced: boolean): Promise<ReadonlySet<string>> {
  const { addresses, head } = await walkChain(rpc)
  const found = new Set(addresses)
  for (let number = 0; number <= head.number; number++) {
    const height = `0x${number.toString(16)}`
    const block = (await rpc('eth_getBlockByNumber', height, true)) as {
      miner: string
      transactions: { authorizationList?: { address: string }[] }[]
    }
    found.add(block.miner.toLowerCase())
    if (!isTraced) continue
    for (const { action, result } of (await rpc('trace_block', height)) as Trace[]) {
      for (const address of [action.from, action.to, action.refundAddress, action.address, result?.address]) {
        if (typeof address === 'string') found.add(address.toLowerCase())
      }
    }
  }
  return found
}
