import { createClient, isConfirmed, parseCoverage } from '@chain-data/client'

const [baseUrl = 'http://127.0.0.1:8080', address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'] =
  process.argv.slice(2)
const client = createClient({
  baseUrl,
  projectId: 'demo',
  serverKey: 'demo-server-key',
  chainId: 31337,
  timeoutMs: 60_000
})

// What the index says of the account, against the state of the chain at one block, and against the headers of its blocks.
const { verdict, asOf, index, native, tokens, unaltered, findings } = await client.verifyHistory({
  address,
  verify: 'roots'
})
console.log(`${address} is ${verdict} at block ${asOf.blockNumber}: ${index.transactions} transactions`)
for (const [part, wei] of Object.entries(native.parts)) if (wei !== 0n) console.log(`  ${part}: ${wei} wei`)
console.log(`  balance: ${native.balance} wei, difference ${native.difference}`)
for (const token of tokens)
  console.log(`  token ${token.address}: ${token.transfers} transfers, ${token.verdict}`)
console.log(`  unaltered: ${unaltered?.verdict}, ${unaltered?.roots} blocks agree with their headers`)
for (const { kind, message } of findings) console.log(`  ${kind}: ${message}`)

// Its latest transactions, each with what moved in it from or to the account.
const records = await client.getTransactionsByAddress({
  address,
  limit: 10,
  include: ['transfers', 'internal'],
  onAnswer(answer) {
    const [coverage] = parseCoverage(answer.header('x-chain-data-coverage'))
    console.log(
      `blocks ${coverage?.from} to ${coverage?.to}, traced from ${coverage?.internalFrom ?? 'none'}`
    )
  }
})
for (const record of records.filter(isConfirmed)) {
  console.log(`${record.hash} block ${record.blockNumber}`)
  for (const { standard, from, to, amount, tokenId } of record.transfers ?? []) {
    console.log(`  ${standard} ${amount ?? `id ${tokenId}`}: ${from} -> ${to}`)
  }
  for (const { kind, from, to, value } of record.internal ?? []) {
    console.log(`  ${kind} ${BigInt(value)} wei: ${from} -> ${to}`)
  }
}
process.exitCode = verdict === 'failed' ? 1 : 0
