import type {
  Finding,
  HistoryCertificate,
  NativeParts,
  NftCheck,
  TokenCheck,
  UnalteredCheck
} from '@chain-data/protocol'
import { displayText } from '../../platform/displayText.ts'
import { plural } from '../../platform/plural.ts'
import { type Column, formatTable } from './terminal.ts'

interface CheckRow {
  readonly what: string
  readonly verdict: string
  readonly compared: string
}

interface AmountRow {
  readonly what: string
  /** Absent: not known. */
  readonly wei: string | undefined
}

const checkColumns: readonly Column<CheckRow>[] = [
  ['CHECK', ({ what }) => what],
  ['VERDICT', ({ verdict }) => verdict],
  // Last, because it may be long.
  ['COMPARED', ({ compared }) => compared]
]

const amountColumns: readonly Column<AmountRow>[] = [
  ['NATIVE CURRENCY', ({ what }) => what],
  ['WEI', ({ wei }) => wei ?? 'not known'],
  ['10^18 WEI', ({ wei }) => (wei === undefined ? '' : inWhole(wei))]
]

/** The parts of the native sum in the order in which they are added, each with its sign and what it is. */
const partNames: readonly (readonly [sign: '+' | '-' | ' ', name: keyof NativeParts, words: string])[] = [
  [' ', 'opening', 'before the index'],
  ['+', 'received', 'received'],
  ['-', 'sent', 'sent'],
  ['-', 'fees', 'fees'],
  ['+', 'internalReceived', 'received from contracts'],
  ['-', 'internalSent', 'sent by its code'],
  ['+', 'withdrawals', 'withdrawals'],
  ['+', 'rewards', 'block rewards'],
  ['+', 'tips', 'tips'],
  ['+', 'minted', 'minted'],
  ['-', 'burned', 'burned']
]

const meanings: Readonly<Record<string, string>> = {
  proven: 'nothing is missing, and nothing was found altered',
  explained: 'nothing is missing: the differences have their reason in contracts',
  failed: 'something is missing or wrong',
  unprovable: 'nothing was found missing or altered, and not everything can be known here'
}

/** Transactions that older history may lack, in words. */
const lacksInWords: Readonly<Record<string, string>> = {
  'zero-value-receipts': 'transactions of no value that others sent and that log nothing',
  'payments-passed-on': 'payments that code of the account passed on at once'
}

/** What older history is covered, and what it may lack. */
function olderOf({ from, indexedFrom, lacks, reason }: HistoryCertificate['covers']): readonly string[] {
  const missing = lacks?.map(word => lacksInWords[word] ?? displayText(word)).join('; ')
  const why = reason === undefined ? '' : ` (reason: ${displayText(reason)})`
  return [
    ...(indexedFrom === undefined
      ? []
      : [`Older    blocks ${from} to ${indexedFrom - 1} were read from nodes`]),
    ...(missing === undefined ? [] : [`Lacks    before block ${indexedFrom}, perhaps: ${missing}${why}`]),
    ...(from > 0 && reason !== undefined ? [`Before   block ${from} nothing is covered${why}`] : [])
  ]
}

/** A certificate as tables for a terminal: the verdict first, then what it covers, each check, and the findings. */
export function formatCertificate(certificate: HistoryCertificate, chainId: number): string {
  const { address, asOf, verdict, complete, unaltered, covers, native, findings } = certificate
  const { blockNumber, blockHash, timestamp } = asOf
  const known = (what: string, from: number | undefined) =>
    `${what} ${from === undefined ? 'not known' : `from block ${from}`}`
  return [
    `${verdict.toUpperCase()}: ${meanings[verdict] ?? ''}`,
    ...(complete === undefined || unaltered === undefined
      ? []
      : [`Complete: ${complete}. Unaltered: ${unaltered.verdict}.`]),
    '',
    `Account  ${address} on chain ${chainId}`,
    `As of    block ${blockNumber}, ${blockHash}, ${timeOf(timestamp)}`,
    `Covers   blocks ${covers.from} to ${covers.to}; ${known('token transfers', covers.transfersFrom)}; ${known('internal transfers', covers.internalFrom)}`,
    ...olderOf(covers),
    '',
    formatTable(checkColumns, checksOf(certificate)),
    '',
    formatTable(amountColumns, amountsOf(native)),
    '',
    ...(findings.length === 0 ? ['No findings.'] : ['FINDINGS', ...findings.map(formatFinding)])
  ].join('\n')
}

function checksOf({
  unaltered,
  index,
  sent,
  operations,
  native,
  tokens,
  nfts
}: HistoryCertificate): readonly CheckRow[] {
  const nonces = [
    plural(sent.transactions, 'transaction'),
    ...(sent.authorizations > 0 ? [plural(sent.authorizations, 'authorization')] : []),
    ...(sent.creations > 0 ? [plural(sent.creations, 'creation')] : []),
    ...(sent.birth === undefined ? [] : ['1 of its birth as a contract']),
    ...(sent.opening === '0' ? [] : [`${sent.opening ?? 'an unknown number'} before the index`])
  ]
  return [
    {
      what: 'index',
      verdict: index.verdict,
      compared: plural(index.transactions, 'transaction')
    },
    {
      what: 'sent',
      verdict: sent.verdict,
      compared: `${nonces.join(' + ')}; the chain counts ${sent.count ?? 'an unknown number'}`
    },
    ...(operations === undefined
      ? []
      : [
          {
            what: 'operations',
            verdict: operations.verdict,
            compared: plural(operations.operations, 'operation')
          }
        ]),
    {
      what: 'native',
      verdict: native.verdict,
      compared: `${native.computed ?? 'an unknown sum'} wei; the chain says ${native.balance ?? 'nothing'}`
    },
    ...tokens.map(tokenRow),
    ...nfts.map(nftRow),
    ...(unaltered === undefined
      ? []
      : [{ what: 'unaltered', verdict: unaltered.verdict, compared: shownBlocks(unaltered) }])
  ]
}

function shownBlocks({ blocks, checksums, roots, unknownParts = [] }: UnalteredCheck): string {
  const limits = unknownParts.length === 0 ? '' : ` (without ${unknownParts.map(displayText).join(', ')})`
  return `${plural(blocks, 'block')}: ${checksums} agree with their checksums, ${roots} with their headers${limits}`
}

function tokenRow(token: TokenCheck): CheckRow {
  const { address, verdict, transfers } = token
  return {
    what: `token ${address}`,
    verdict,
    compared: `${plural(transfers, 'transfer')}: ${sumOf(token)} base units${whyOf(token)}`
  }
}

function nftRow(nft: NftCheck): CheckRow {
  const { address, standard, tokenId, verdict } = nft
  return {
    what: `${standard} ${address}${tokenId === undefined ? '' : ` id ${tokenId}`}`,
    verdict,
    compared: `${sumOf(nft)}${whyOf(nft)}`
  }
}

function sumOf({ opening, received, sent, balance }: TokenCheck | NftCheck): string {
  return `${opening ?? 'unknown'} + ${received} - ${sent}; the contract says ${balance ?? 'nothing'}`
}

function whyOf({ difference, explanation }: TokenCheck | NftCheck): string {
  if (difference === undefined || difference === '0') return ''
  return ` (difference ${difference}${explanation === undefined ? '' : `: ${explanation}`})`
}

/** Parts of nothing are left out. */
function amountsOf({ parts, computed, balance, difference }: HistoryCertificate['native']): AmountRow[] {
  const rows = partNames
    .filter(([, name]) => name === 'opening' || parts[name] !== '0')
    .map(([sign, name, words]) => ({ what: `${sign} ${words}`, wei: parts[name] }))
  return [
    ...rows,
    { what: '= computed', wei: computed },
    { what: '  balance', wei: balance },
    { what: '  difference', wei: difference }
  ]
}

function formatFinding(finding: Finding): string {
  const { kind, message, blockNumber, transactionIndex, transactionHash, nonce, address, tokenId } = finding
  const where = [
    ...(blockNumber === undefined ? [] : [`block ${blockNumber}`]),
    ...(transactionIndex === undefined ? [] : [`transaction ${transactionIndex}`]),
    ...(transactionHash === undefined ? [] : [transactionHash]),
    ...(nonce === undefined ? [] : [`nonce ${nonce}`]),
    ...(address === undefined ? [] : [`contract ${address}`]),
    ...(tokenId === undefined ? [] : [`id ${tokenId}`])
  ]
  return `- ${kind}${where.length === 0 ? '' : ` (${where.join(', ')})`}: ${displayText(message)}`
}

/** Every digit, without zeros at the end. */
function inWhole(wei: string): string {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(wei) ?? []
  const padded = digits.padStart(19, '0')
  const fraction = padded.slice(-18).replace(/0+$/, '')
  return `${sign}${padded.slice(0, -18)}${fraction === '' ? '' : `.${fraction}`}`
}

/** A chain may say anything of its time. */
function timeOf(seconds: number): string {
  const time = new Date(seconds * 1_000)
  return Number.isNaN(time.getTime()) ? `second ${seconds}` : time.toISOString().replace('.000Z', 'Z')
}
