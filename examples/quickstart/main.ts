import { createClient, isPending } from '@chain-data/client'

const [baseUrl = 'http://127.0.0.1:8080', address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'] =
  process.argv.slice(2)
const client = createClient({ baseUrl, projectId: 'demo', serverKey: 'demo-server-key', chainId: 31337 })

const { native, tokens, nfts } = await client.svc_getTokensAndNFTs({ address })
process.stdout.write(`${address}: ${native} wei, ${tokens.length} tokens, ${nfts.length} NFTs\n`)
for (const record of await client.svc_getTransactionsByAddress({ address, limit: 10 })) {
  process.stdout.write(`${record.hash} ${isPending(record) ? 'pending' : `block ${record.blockNumber}`}\n`)
}
