import { createClient, isPending } from '@chain-data/client'

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8080'
const address = process.argv[3] ?? '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const client = createClient({ baseUrl, projectId: 'demo', serverKey: 'demo-server-key', chainId: 31337 })

const { native, tokens, nfts } = await client.getTokensAndNFTs({ address })
console.log(address, { native, tokens: tokens.length, nfts: nfts.length })
for (const record of await client.getTransactionsByAddress({ address, limit: 10 }))
  console.log(record.hash, isPending(record) ? 'pending' : `in block ${record.blockNumber}`)
