import type { Address, Hash } from '@chain-data/index'

/** Lists what a certificate can find; see `Finding` in spec/openrpc.json. */
type FindingKind =
  | 'MISSING_TRANSACTION'
  | 'MISSING_RECORD'
  | 'MISSING_HASH'
  | 'MISSING_BLOCK'
  | 'MISSING_HOLDING'
  | 'MISSING_NONCE'
  | 'MISSING_EVENT'
  | 'WRONG_RECORD'
  | 'WRONG_BLOCK'
  | 'UNEXPECTED_NONCE'
  | 'UNEXPLAINED_BALANCE'
  | 'INDEX_DAMAGED'
  | 'NOT_TRACED'
  | 'NOT_COUNTED'
  | 'HINTS_UNPROVEN'
  | 'HISTORY_LACKS'
  | 'NOT_FOLLOWED'
  | 'CHECKSUMS_UNKNOWN'
  | 'ROOTS_UNKNOWN'
  | 'ROOTS_NOT_CHECKED'
  | 'LOGS_UNAVAILABLE'
  | 'STATE_UNAVAILABLE'
  | 'BALANCE_UNREADABLE'
  | 'MORE_FINDINGS'

export interface CertificateFinding {
  readonly kind: FindingKind
  readonly message: string
  readonly blockNumber?: number
  readonly transactionIndex?: number
  readonly transactionHash?: Hash
  readonly nonce?: bigint
  readonly address?: Address
  readonly tokenId?: bigint
}

const maxFindings = 100

/** Keeps findings in the order in which they were made, each once, 100 at most. */
export class Findings {
  readonly #found = new Map<string, CertificateFinding>()
  #others = 0

  add(finding: CertificateFinding): void {
    const { kind, blockNumber, transactionIndex, nonce, address, tokenId } = finding
    const subject = transactionIndex === undefined ? [nonce, address, tokenId, finding.message] : []
    const key = [kind, blockNumber, transactionIndex, ...subject].join(' ')
    if (this.#found.has(key)) return
    if (this.#found.size < maxFindings) this.#found.set(key, finding)
    else this.#others++
  }

  list(): readonly CertificateFinding[] {
    const found = [...this.#found.values()]
    if (this.#others === 0) return found
    return [...found, { kind: 'MORE_FINDINGS', message: `${this.#others} more findings were left out.` }]
  }
}
