import { type ChainOptional, type Client, isConfirmed, type TransactionRecord } from '@chain-data/client'

/** A client that knows its chain. */
type ChainClient = Client<ChainOptional>

/** One line about what an account owns. Spam is left out, and said to be. */
export async function describeHoldings(client: ChainClient, address: string): Promise<string> {
  const { native, tokens, nfts } = await client.getTokensAndNFTs({ address })
  const wanted = tokens.filter(token => token.spam?.verdict !== 'spam')
  const hidden = tokens.length - wanted.length
  const names = wanted.map(({ symbol, address: contract }) => symbol || contract).join(', ')
  return [
    `${formatUnits(native, 18)} ETH`,
    names || 'no tokens',
    `${nfts.length} NFTs`,
    ...(hidden > 0 ? [`${hidden} hidden as spam`] : [])
  ].join(' · ')
}

/** Decimal digits of base units as people write the amount: `1500` with 3 decimals is `1.5`. */
function formatUnits(digits: string, decimals: number): string {
  const padded = digits.padStart(decimals + 1, '0')
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`.replace(/\.?0+$/, '')
}

/** The newest records of an account, as many as wanted, read in pages of 100. */
export async function readNewest(
  client: ChainClient,
  address: string,
  count: number
): Promise<TransactionRecord[]> {
  const newest: TransactionRecord[] = []
  for await (const page of client.iterateTransactions({ address, limit: 100 })) {
    newest.push(...page)
    if (newest.length >= count) break
  }
  return newest.slice(0, count)
}

/** What becomes of a transaction that was sent. */
export type Progress = 'not seen yet' | 'pending' | 'succeeded' | 'failed'

/**
 * Follows a transaction from the moment it was sent.
 *
 * @returns Each change, until the transaction is in a block.
 */
export async function* followTransaction(
  client: ChainClient,
  address: string,
  hash: string,
  pollMs = 2_000
): AsyncGenerator<Progress, void, undefined> {
  let shown: Progress | undefined
  for (;;) {
    const records = await client.getTransactionsByAddress({ address, limit: 100 })
    const progress = progressOf(records.find(record => record.hash === hash))
    if (progress !== shown) yield progress
    if (progress === 'succeeded' || progress === 'failed') return
    shown = progress
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
}

function progressOf(record: TransactionRecord | undefined): Progress {
  if (record === undefined) return 'not seen yet'
  if (!isConfirmed(record)) return 'pending'
  return record.status === 3 ? 'succeeded' : 'failed'
}
