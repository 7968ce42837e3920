/** What an address holds on several chains, with one request: `node severalChains.ts 0x7099… 31337 1`. */
import { type ChainPerCall, type Client, createClient, hasReason } from '@chain-data/client'

/** One line for each chain. A chain that cannot be read says why; the others are shown. */
export async function describeChains(
  client: Client<ChainPerCall>,
  address: string,
  chainIds: readonly number[]
): Promise<string[]> {
  const outcomes = await client.batch(
    chainIds.map(chainId => ({ method: 'getTokensAndNFTs' as const, address, chainId }))
  )
  return outcomes.map((outcome, index) => {
    const chain = `chain ${chainIds[index]}`
    if (outcome.status === 'fulfilled') {
      const { native, tokens, nfts } = outcome.value
      return `${chain}: ${native} wei, tokens: ${tokens.length}, NFTs: ${nfts.length}`
    }
    const { reason } = outcome
    return hasReason(reason, 'UNSUPPORTED_CHAIN')
      ? `${chain}: not served; served are ${reason.data.supportedChainIds.join(', ') || 'none'}`
      : `${chain}: ${reason.message}`
  })
}

if (process.argv[1] === import.meta.filename) {
  const [, , address = '', ...chainIds] = process.argv
  const client = createClient({
    baseUrl: process.env.CHAIN_DATA_URL ?? 'http://127.0.0.1:8080',
    projectId: 'demo',
    serverKey: process.env.CHAIN_DATA_SERVER_KEY ?? 'demo-server-key'
  })
  const lines = await describeChains(client, address, chainIds.map(Number))
  process.stdout.write(`${lines.join('\n')}\n`)
}
