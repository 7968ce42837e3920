import type { EvmHoldings, SolanaHoldings, TransactionRecord } from '@chain-data/client'
import Table from 'cli-table3'
import { formatUnits } from 'ethers'
import { safeText, shorten } from './safeText.ts'

/** Rows of one table; what is beyond is counted below it, never silently left out. */
const rowLimit = 15

/** Statuses of the wire in words; 2 is reserved. */
const statusWords = { 0: 'queued', 1: 'pending', 3: 'success', 4: 'failed' }

/**
 * History as a table, newest first as it came.
 *
 * @param address - Whose it is: other parties are named.
 * @param width - Columns of the terminal; where the table is wider, it goes without its least needed ones.
 */
export function transactionsTable(
  transactions: readonly TransactionRecord[],
  address: string,
  width = Number.POSITIVE_INFINITY
): string {
  return render({
    head: ['time (UTC)', 'status', 'type', 'direction', 'other party', 'ether', 'fee (gwei)', 'hash'],
    expendable: ['type', 'fee (gwei)', 'time (UTC)', 'hash'],
    width,
    rows: transactions.map(transaction => {
      const sent = same(transaction.from, address)
      const received = transaction.to !== undefined && same(transaction.to, address)
      const other = sent ? transaction.to : transaction.from
      const fees = 'fees' in transaction ? transaction.fees : undefined
      return [
        new Date(transaction.timestamp * 1000).toISOString().slice(0, 19).replace('T', ' '),
        transaction.status === undefined ? 'unknown' : statusWords[transaction.status],
        transaction.type,
        sent && received ? 'self' : sent ? 'out' : received ? 'in' : 'token',
        other === undefined ? 'new contract' : shorten(other),
        units(transaction.value, 18),
        fees === undefined ? '' : units(fees, 9),
        shorten(transaction.hash)
      ]
    })
  })
}

/** Balance, ERC-20 tokens and NFTs of an EVM account. @param width - As of {@link transactionsTable}. */
export function evmHoldingsTables(holdings: EvmHoldings, width = Number.POSITIVE_INFINITY): string {
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
    section('Tokens', {
      head: ['token', 'symbol', 'amount', 'contract'],
      expendable: ['symbol', 'contract'],
      ...{ width, rows: tokens }
    }),
    section('NFTs', {
      head: ['name', 'symbol', 'id', 'balance', 'standard', 'metadata', 'contract'],
      expendable: ['metadata', 'symbol', 'standard'],
      ...{ width, rows: nfts }
    }),
    ...incompleteLine(holdings.incomplete)
  ].join('\n')
}

/** Lamports, tokens and NFTs of a Solana account. @param width - As of {@link transactionsTable}. */
export function solanaHoldingsTables(holdings: SolanaHoldings, width = Number.POSITIVE_INFINITY): string {
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
    section('Tokens', {
      head: ['token', 'symbol', 'amount', 'mint', 'account'],
      expendable: ['account', 'symbol'],
      ...{ width, rows: tokens }
    }),
    section('NFTs', {
      head: ['name', 'symbol', 'kind', 'royalty', 'metadata', 'mint'],
      expendable: ['metadata', 'royalty', 'symbol'],
      ...{ width, rows: nfts }
    }),
    ...incompleteLine(holdings.incomplete)
  ].join('\n')
}

type Cell = string | number

interface Content {
  head: string[]
  rows: Cell[][]
  /** Heads of the columns to go without where there is no room, the least needed one first. */
  expendable: string[]
  width: number
}

function section(title: string, content: Content): string {
  return content.rows.length === 0 ? `${title}: none` : `${title}:\n${render(content)}`
}

function render({ head, rows, expendable, width }: Content): string {
  if (rows.length === 0) return 'none'
  const shown = rows.slice(0, rowLimit)
  const dropped = new Set<string>()
  let table = draw(head, shown, dropped)
  for (const column of expendable) {
    if (widthOf(table) <= width) break
    dropped.add(column)
    table = draw(head, shown, dropped)
  }
  const more = rows.length - shown.length
  if (more > 0) table += `\n… and ${more} more`
  return dropped.size > 0 ? `${table}\n(no room here for: ${[...dropped].join(', ')})` : table
}

function draw(head: string[], rows: Cell[][], dropped: ReadonlySet<string>): string {
  const isKept = (_: unknown, index: number) => !dropped.has(head[index] ?? '')
  const table = new Table({ head: head.filter(isKept), style: { head: [], border: [], compact: true } })
  table.push(...rows.map(row => row.filter(isKept)))
  return table.toString()
}

/** The upper edge is as wide as the table, and every character of it takes one column. */
function widthOf(table: string): number {
  return table.indexOf('\n')
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
