/** Which blocks an answer about an EVM account speaks of, and what is known of them. */
export interface Coverage {
  /** The chain it speaks of. */
  readonly chainId: number
  /** First indexed block; absent while nothing is indexed. */
  readonly from?: number
  /** Last indexed block. */
  readonly to?: number
  /** First block from which on token transfers are known of each transaction; absent: of none. */
  readonly transfersFrom?: number
  /** First block from which on internal transfers are known; absent: not even of the newest. */
  readonly internalFrom?: number
  /** First block from which on operations, authorities and logs of failed transactions are known; absent: of none. */
  readonly operationsFrom?: number
  /** Blocks with a receipt, or transactions, that are unknown, so that what happened in them may be missing; absent: none. */
  readonly unknownBlocks?: readonly { readonly from: number; readonly to: number }[]
  /**
   * What answers for history older than `from`: an index of addresses or the logs of the node (`node`), its old states, or
   * nothing. Absent where nothing is older, or it is not known.
   */
  readonly deepHistory?: 'node' | 'state' | 'none'
  /** Transactions that are left out of the older history: receipts of no value that log nothing. Absent: none. */
  readonly lacks?: 'zero-value-receipts'
  /** First block of the older history that is answered; absent: as `deepHistory` says. */
  readonly deepFrom?: number
  /** Why older transactions of this account are not answered, such as `contract` or `delegated`. */
  readonly reason?: string
}

const names = {
  ...{ from: 'from', to: 'to' },
  ...{ transfers: 'transfersFrom', internal: 'internalFrom', operations: 'operationsFrom' },
  'deep-from': 'deepFrom'
} as const
const member = /^\d{1,15}(;[a-z*][a-z\d_.*-]*(=([a-z*][\w:/.*-]*|-?\d{1,15}|"[\d -]*"))?)*$/i

/**
 * Reads the header in which the service says what an answer covers.
 *
 * @param header - Of `onAnswer`: `answer.header('x-chain-data-coverage')`.
 * @returns One entry for each chain of the request; none without the header, and of one that cannot be read.
 * @see docs/coverage.md
 * @example
 * const onAnswer = answer => {
 *   const [coverage] = parseCoverage(answer.header('x-chain-data-coverage'))
 * }
 */
export function parseCoverage(header: string | null | undefined): readonly Coverage[] {
  const members = (header ?? '').split(',').map(text => text.trim())
  // What is broken in one place is not believed in another (RFC 9651, section 4.2).
  return members.every(text => member.test(text)) ? members.map(readMember) : []
}

function readMember(text: string): Coverage {
  const [chainId, ...parameters] = text.split(';')
  const coverage: Record<string, unknown> = { chainId: Number(chainId) }
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=')
    if (Object.hasOwn(names, name) && /^\d+$/.test(value)) {
      coverage[names[name as keyof typeof names]] = Number(value)
    }
    if (name === 'unknown') {
      coverage.unknownBlocks = (value.match(/[\d-]+/g) ?? []).map(span => {
        const [from, to = from] = span.split('-').map(Number)
        return { from, to }
      })
    }
    if (name === 'deep' && /^(node|state|none)$/.test(value)) coverage.deepHistory = value
    if (name === 'lacks' && value === 'zero-value-receipts') coverage.lacks = value
    if (name === 'reason' && value) coverage.reason = value
  }
  return coverage as unknown as Coverage
}
