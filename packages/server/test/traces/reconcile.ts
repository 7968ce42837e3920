import type { AccountEvent, Address } from '@chain-data/index'
import type { TracedBlock, TracedChain } from './tracedChain.ts'

/**
 * Compares what a block does to each account by its records, traces and events with what the node's own state says.
 * @returns every disagreement in words; `[]` when each wei and each nonce is explained.
 */
export async function reconcile(chain: TracedChain, block: TracedBlock): Promise<string[]> {
  const accounts = new Set<Address>([...block.parties, ...block.events.keys()])
  const found: string[] = []
  for (const account of accounts) {
    const read = (method: string, number: number) =>
      chain.call<string>(method, account, `0x${number.toString(16)}`)
    const change = async (method: string) =>
      BigInt(await read(method, block.number)) - BigInt(await read(method, block.number - 1))
    const [balance, told] = [await change('eth_getBalance'), balanceChange(block, account)]
    if (balance !== told) found.push(`${account}: balance changed by ${balance}, told ${told}`)
    const hadCode = (await read('eth_getCode', block.number - 1)) !== '0x'
    const hasCode = (await read('eth_getCode', block.number)) !== '0x'
    const isDelegated = (await read('eth_getCode', block.number)).startsWith('0xef0100')
    const isBorn = hasCode && !hadCode && !isDelegated
    // What was destroyed began anew, if at all.
    if (hadCode && !hasCode) continue
    const [nonce, used] = [await change('eth_getTransactionCount'), noncesUsed(block, account)]
    if (nonce !== used + (isBorn ? 1n : 0n)) found.push(`${account}: nonce changed by ${nonce}, told ${used}`)
  }
  return found
}

function balanceChange({ transactions, events }: TracedBlock, account: Address): bigint {
  let sum = 0n
  const move = (from: Address, to: Address | undefined, value: bigint) => {
    if (from === account) sum -= value
    if (to === account) sum += value
  }
  for (const { transaction, details } of transactions) {
    const { from, to, contractAddress, value, feeWei = 0n, status } = transaction
    if (from === account) sum -= feeWei
    if (status === 3) move(from, to ?? contractAddress, value)
    for (const internal of details.internal ?? []) move(internal.from, internal.to, internal.value)
  }
  for (const event of events.get(account) ?? []) {
    if ('amount' in event) sum += event.kind === 'burn' ? -event.amount : event.amount
  }
  return sum
}

function noncesUsed({ transactions, events }: TracedBlock, account: Address): bigint {
  const sent = transactions.filter(({ transaction }) => transaction.from === account).length
  const used = (event: AccountEvent) =>
    event.kind === 'creation' ? event.count : event.kind === 'authorization' ? 1 : 0
  return (events.get(account) ?? []).reduce((sum, event) => sum + BigInt(used(event)), BigInt(sent))
}
