import type { Address, IndexCoverage, IndexDamagedError, Snapshot } from '@chain-data/index'
import type { AccountAt, AccountState, TokenName } from './accountState.ts'
import { type Examination, examineBlock, type KnownOfBlock } from './examineBlock.ts'
import { Findings } from './Findings.ts'
import { joinOlder, type OlderHistory } from './joinOlder.ts'
import { type Heights, type Ledger, type Quantity, readLedger } from './readLedger.ts'
import type { HistorySums } from './sumHistory.ts'

export type CheckVerdict = 'proven' | 'explained' | 'failed' | 'unprovable'

/** Everything that the index has of an account; it is read once, before the node is asked. */
export interface IndexedAccount {
  readonly account: Address
  /** First block that counts, of the index or of what is older. */
  readonly from: number
  readonly to: number
  /** First block of the index. */
  readonly indexedFrom: number
  /** The sums begin after this block: the last one before the index, or the genesis block, which no transaction explains. */
  readonly openingHeight: number
  /** Of the index. */
  readonly coverage: IndexCoverage
  /** History older than the index that counts as well; absent: none does. */
  readonly older?: OlderHistory
  readonly sums: HistorySums
  /** Damage that ended a reading, besides what `sums.missing` names. */
  readonly damages: readonly IndexDamagedError[]
  /** Tokens that should be among the candidates for holdings, and are not; keys of `candidateKey`. */
  readonly missingHoldings: readonly string[]
  /** Tokens among the candidates that no record of the history names. */
  readonly hintedTokens: readonly TokenName[]
  /** There are more hinted tokens than the list has. */
  readonly isHintedMore: boolean
}

export interface AuditOptions {
  /**
   * The index again, on the branch that `indexed` is of; asked for only where something differs. Closed before the node is asked: a
   * snapshot that waits for it would be taken away for others.
   */
  openSnapshot(): Promise<Snapshot>
  readonly indexed: IndexedAccount
  readonly state: AccountState
  /** `Date.now()` after which no further difference is followed. */
  readonly followUntilMs: number
  /** `Date.now()` after which no further block is held against its header. */
  readonly untilMs: number
  readonly now: () => number
}

/** Maximum of differences that are followed in one certificate: each takes some dozen calls. */
const maxFollowed = 40

/** Holds what the checks of one certificate share: what is read once, and what was found. */
export class Audit {
  readonly indexed: IndexedAccount
  readonly state: AccountState
  readonly findings = new Findings()
  readonly #options: AuditOptions
  readonly #examinations = new Map<number, Examination>()
  readonly #accounts = new Map<number, AccountAt | undefined>()
  #followed = 0

  constructor(options: AuditOptions) {
    this.#options = options
    this.indexed = options.indexed
    this.state = options.state
  }

  /** The account before the first block that counts. */
  async opening(): Promise<AccountAt | undefined> {
    const [opening] = await this.accounts([this.indexed.openingHeight])
    return opening
  }

  /** As `AccountState.accounts`; each height is asked for once. */
  async accounts(heights: readonly number[]): Promise<readonly (AccountAt | undefined)[]> {
    this.#accounts.set(this.indexed.to, this.state.now)
    const unknown = [...new Set(heights)].filter(height => !this.#accounts.has(height))
    if (unknown.length > 0) {
      const found = await this.state.accounts(unknown)
      for (const [index, height] of unknown.entries()) this.#accounts.set(height, found[index])
    }
    return heights.map(height => this.#accounts.get(height))
  }

  /** All blocks that count were traced, and no part of any is unknown. Of older history only those are read that a node names. */
  get isTraced(): boolean {
    const { coverage, openingHeight, from, older } = this.indexed
    const { tracedFrom = Number.POSITIVE_INFINITY, unknown } = coverage
    return older === undefined && unknown === undefined && tracedFrom <= Math.max(openingHeight + 1, from)
  }

  /** Reports whether the index has the block at a height with a part unknown. */
  isUnknownAt(height: number): boolean {
    return (this.indexed.coverage.unknown ?? []).some(({ from, to }) => from <= height && height <= to)
  }

  /** Checks whether another difference may be followed; adds one finding when not. */
  mayFollow(): boolean {
    if (this.#followed++ < maxFollowed && this.#options.now() < this.#options.followUntilMs) return true
    this.findings.add({
      kind: 'NOT_FOLLOWED',
      message: 'There are more differences than could be followed to the blocks where they began.'
    })
    return false
  }

  /** Reads what the index knows of a quantity within a range of blocks. */
  readLedger(quantity: Quantity, heights: Heights): Promise<Ledger> {
    const { account, older } = this.indexed
    return this.read(snapshot => readLedger(joinOlder(snapshot, older), account, quantity, heights))
  }

  /** Reads the index once more; see `AuditOptions.openSnapshot`. */
  async read<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const snapshot = await this.#options.openSnapshot()
    try {
      return await work(snapshot)
    } finally {
      await snapshot.close()
    }
  }

  /** No further block is read again: the rest of the call's time is for finishing it. */
  get isTimeOver(): boolean {
    return this.#options.now() >= this.#options.untilMs
  }

  /** What the index knows of the block at a height. */
  knownAt(height: number): KnownOfBlock {
    const { older } = this.indexed
    if (older !== undefined && height < older.below) {
      return { isTraced: older.isTraced, isDetailed: false }
    }
    const { tracedFrom = Number.POSITIVE_INFINITY } = this.indexed.coverage
    return { isTraced: tracedFrom <= height && !this.isUnknownAt(height), isDetailed: true }
  }

  /** Reads a block again; what it has and the index lacks becomes a finding. */
  async examine(height: number): Promise<Examination> {
    const known = this.#examinations.get(height)
    if (known !== undefined) return known
    const { account, older } = this.indexed
    const block = await this.state.block(height)
    const examination: Examination =
      block === undefined
        ? { missing: [], isTraced: false }
        : await this.read(snapshot =>
            examineBlock(joinOlder(snapshot, older), account, block, this.knownAt(height))
          )
    for (const finding of examination.missing) this.findings.add(finding)
    this.#examinations.set(height, examination)
    return examination
  }

  missingState(): void {
    this.findings.add({
      kind: 'STATE_UNAVAILABLE',
      message: `The node does not have the state of the blocks that have to be compared.`
    })
  }

  missingOpening(): void {
    const { openingHeight } = this.indexed
    this.findings.add({
      kind: 'STATE_UNAVAILABLE',
      message: `The node does not have the state of block ${openingHeight}, after which the index begins.`,
      blockNumber: openingHeight
    })
  }

  /** Names what keeps a sum that fits from being a proof. */
  notTraced(blockNumber?: number): void {
    const { older } = this.indexed
    if (older?.isTraced && (blockNumber ?? 0) < older.below) {
      this.findings.add({
        kind: 'HINTS_UNPROVEN',
        message: `Whether the node has named all transactions before block ${older.below} shows only for accounts that have sent one and have run no code.`
      })
      return
    }
    this.findings.add({
      kind: 'NOT_TRACED',
      message:
        blockNumber === undefined
          ? 'What happens inside of transactions is not known, because not all blocks are traced.'
          : `What happened inside of the transactions of block ${blockNumber} is not known.`,
      ...(blockNumber !== undefined && { blockNumber })
    })
  }
}

/** `failed` when one of them is, else `unprovable` when one is, else `proven`. */
export function worstOf(verdicts: readonly CheckVerdict[]): CheckVerdict {
  if (verdicts.includes('failed')) return 'failed'
  return verdicts.includes('unprovable') ? 'unprovable' : 'proven'
}
