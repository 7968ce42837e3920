import type { EvmHoldings, SolanaHoldings, TransactionRecord } from '@chain-data/client'
import Table from 'cli-table3'
import { formatUnits } from 'ethers'
import { safeText, shorten } from './safeText.ts'

/** Rows of one table; what is beyond is counted below it, never silently left out. */
const rowLimit = 15

/** Statuses of the wire in words; 2 is reserved. */
const statusWords: Record<number, string> = { 0: 'queued', 1: 'pending', 3: 'success', 4: 'failed' }

/** History as a table, newest first as it came. @param address - Whose it is: other parties are named. */
export function transactionsTable(transactions: readonly TransactionRecord[], address: string): string {
  return render(
    ['time (UTC)', 'status', 'type', 'direction', 'other party', 'ether', 'fee (gwei)', 'hash'],
    transactions.map(transaction => {
      const sent = same(transaction.from, address)
      const received = transaction.to !== undefined && same(transaction.to, address)
      const other = sent ? transaction.to : transaction.from
      const fees = 'fees' in transaction ? transaction.fees : undefined
      return [
        new Date(transaction.timestamp * 1000).toISOString().slice(0, 19).replace('T', ' '),
        statusWords[transaction.status] ?? String(transaction.status),
        transaction.type,
        sent && received ? 'self' : sent ? 'out' : received ? 'in' : 'token',
        other === undefined ? 'new contract' : shorten(other),
        units(transaction.value, 18),
        fees === undefined ? '' : units(fees, 9),
        shorten(transaction.hash)
      ]
    })
  )
}

/** Balance, ERC-20 tokens and NFTs of an EVM account. */
export function evmHoldingsTables(holdings: EvmHoldings): string {
  const tokens = holdings.tokens.map(token => [
    safeText(token.name),
    safeText(token.symbol, 12),
    units(token.amount, token.decimals),
    shorten(token.address)
  ])
  const nfts = holdings.nfts.map(nft => [
    safeText(nft.name),
    safeText(nft.symbol, 12),
    identifier(nft.tokenId),
    safeText(nft.tokenBalance, 34),
    nft.isSemiFungible ? 'ERC-1155' : 'ERC-721',
    Object.keys(nft.data).length > 0 ? 'read' : 'none',
    shorten(nft.address)
  ])
  return [
    `Balance: ${units(holdings.native, 18)} ether`,
    section('Tokens', ['token', 'symbol', 'amount', 'contract'], tokens),
    section('NFTs', ['name', 'symbol', 'id', 'balance', 'standard', 'metadata', 'contract'], nfts),
    ...incompleteLine(holdings.incomplete)
  ].join('\n')
}

/** Lamports, tokens and NFTs of a Solana account. */
export function solanaHoldingsTables(holdings: SolanaHoldings): string {
  const tokens = holdings.tokens.map(token => [
    safeText(token.name),
    safeText(token.symbol, 12),
    units(token.amountString ?? String(token.amount), token.decimals),
    shorten(token.mint),
    shorten(token.address)
  ])
  const nfts = holdings.nfts.map(nft => [
    safeText(nft.name),
    safeText(nft.symbol, 12),
    nft.isSemiFungible ? 'semi-fungible' : 'NFT',
    `${nft.sellerFeeBasisPoints / 100} %`,
    nft.metadata.data.uriData === undefined ? 'none' : 'read',
    shorten(nft.mint)
  ])
  return [
    `Balance: ${units(holdings.lamportsString ?? String(holdings.lamports), 9)} SOL`,
    section('Tokens', ['token', 'symbol', 'amount', 'mint', 'account'], tokens),
    section('NFTs', ['name', 'symbol', 'kind', 'royalty', 'metadata', 'mint'], nfts),
    ...incompleteLine(holdings.incomplete)
  ].join('\n')
}

type Cell = string | number

function section(title: string, head: string[], rows: Cell[][]): string {
  return rows.length === 0 ? `${title}: none` : `${title}:\n${render(head, rows)}`
}

function render(head: string[], rows: Cell[][]): string {
  if (rows.length === 0) return 'none'
  const table = new Table({ head, style: { head: [], border: [], compact: true } })
  table.push(...rows.slice(0, rowLimit))
  const more = rows.length - rowLimit
  return more > 0 ? `${table.toString()}\n… and ${more} more` : table.toString()
}

interface Incomplete {
  address: string
  tokenId?: string
  reason: string
}

function incompleteLine(incomplete: readonly Incomplete[] = []): string[] {
  if (incomplete.length === 0) return []
  const parts = incomplete.slice(0, rowLimit).map(({ address, tokenId, reason }) => {
    const id = tokenId === undefined ? '' : ` id ${identifier(tokenId)}`
    return `${shorten(address)}${id} (${safeText(reason)})`
  })
  return [`Could not be read (${incomplete.length}): ${parts.join(', ')}`]
}

/** A quantity as people write it: exact, without trailing zeros; as it came when it is no number. */
function units(quantity: string, decimals: number): string {
  try {
    return formatUnits(BigInt(quantity), Math.min(decimals, 80)).replace(/\.0$/, '')
  } catch {
    return safeText(quantity)
  }
}

/** Token ids may have 78 digits. */
function identifier(tokenId: string): string {
  return tokenId.length > 20 ? shorten(tokenId) : safeText(tokenId)
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
