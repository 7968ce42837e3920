import type { Address, IndexedBlock, IndexedRange, StoreReader, SyncStatus } from '@chain-data/index'
import { type BlockAt, BlockLostError } from '../../evm/state/pinBlock.ts'
import type { DeepSource } from '../../model/deepHistory.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import type { Clock } from '../../platform/clock.ts'
import { present } from '../../platform/present.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type CoverageBelow, coverageBelow } from '../../server/methods/coverageBelow.ts'
import { chainOf, type Handlers, type MethodContext } from '../../server/methods/MethodContext.ts'
import type { BelowIndex, MissingBelow, OlderHistory } from '../../server/methods/OlderHistory.ts'
import {
  coverageOf,
  notBackfilled,
  openSettled,
  requireFollowing,
  retryWhileMoving
} from '../../server/methods/requireCurrent.ts'
import type { IndexedAccount } from './audit/Audit.ts'
import type { AccountStates } from './audit/accountStates.ts'
import { damagesOf, type HeaderChecking } from './audit/checkUnaltered.ts'
import { issueCertificate, readIndexedAccount } from './audit/issueCertificate.ts'
import type { OlderHistory as OlderPart } from './audit/joinOlder.ts'
import { shapeCertificate } from './shapeCertificate.ts'

/** The sources of one chain's certificates. */
interface VerifiedChain {
  readonly chainId: number
  readonly traces: TraceMode
  readonly reader: Pick<StoreReader, 'openSnapshot'>
  readonly states: AccountStates
  /** Blocks that are held against their headers, as far as the chain's encoding is known. */
  readonly headers: Omit<HeaderChecking, 'blocks'> & {
    block(height: number, signal: AbortSignal): Promise<IndexedBlock>
  }
  /** Absent: history older than the index is not answered. */
  readonly older?: OlderHistory | undefined
  status(): SyncStatus
}

export interface VerifyHistoryOptions {
  readonly chains: ReadonlyMap<number, VerifiedChain>
  readonly formatAddress: FormatAddress
  readonly clock: Clock
}

/** The part of a call's time after which nothing further is begun: the rest is for finishing and answering. */
const workingShare = 0.8
/** Following one difference reads the history so often: to find its block, again where that lies among many, and to compare. */
const passesPerDifference = 3

/** Answers a certificate: it compares the index of an account with the chain's state at the newest indexed block, and on request with headers. */
export function createVerifyHistory({
  chains,
  formatAddress,
  clock
}: VerifyHistoryOptions): Handlers['svc_verifyHistory'] {
  return async ([anyCaseAddress, options], context) => {
    const chain = chainOf(chains, context)
    const account = anyCaseAddress.toLowerCase() as Address
    const isMoving = (error: unknown) => error instanceof BlockLostError || error instanceof IndexMovedError
    return retryWhileMoving(context.signal, isMoving, () =>
      verify(chain, account, options?.verify === 'roots', context)
    )
  }

  async function verify(chain: VerifiedChain, account: Address, withRoots: boolean, context: MethodContext) {
    const { signal, deadlineMs } = context
    const untilMs = clock.now() + (deadlineMs - clock.now()) * workingShare
    const older = await readOlder(chain, account, context)
    const { indexed, at, branch, tookMs } = await readIndex(chain, account, older, untilMs, context)
    const { sums } = indexed
    const damages = damagesOf(indexed)
    for (const damage of damages) context.onDamage?.(damage)
    const size = sums.transactions + sums.tokens.size
    const request = { address: account, at, size, signal, deadlineMs }
    const { block, ...known } = chain.headers
    const blocks = { block: (height: number) => block(height, signal) }
    const certificate = await chain.states.withState(request, state =>
      issueCertificate(
        {
          ...{ indexed, state, openSnapshot: () => reopen(chain.reader, at, branch, context) },
          // What is damaged explains them: they are not worth the time.
          followUntilMs:
            damages.length > 0 ? 0 : Math.min(untilMs, deadlineMs - passesPerDifference * tookMs),
          untilMs,
          now: () => clock.now()
        },
        withRoots ? { ...known, blocks } : known
      )
    )
    return shapeCertificate(
      certificate,
      { ...indexed, ...present({ reason: older.covered.reason }) },
      at,
      formatAddress
    )
  }

  /** Closes the snapshot before the node is asked, because that may take long. */
  async function readIndex(
    chain: VerifiedChain,
    account: Address,
    { older, covered }: ReadOlder,
    untilMs: number,
    context: MethodContext
  ): Promise<IndexRead> {
    const { snapshot, status } = await openSettled(chain, context)
    try {
      if (!(await snapshot.marks()).backfilled) throw await notBackfilled(snapshot, status)
      requireFollowing(status)
      const range = await snapshot.indexedRange()
      if (range === undefined) throw await notBackfilled(snapshot, status)
      const startMs = clock.now()
      const indexed = await readIndexedAccount(snapshot, account, range, {
        ...{ older, signal: context.signal },
        onBlock(blockNumber) {
          if (clock.now() >= untilMs) throw notInTime(range, blockNumber)
        }
      })
      context.onCoverage?.(await coverageOf(chain.chainId, snapshot, covered))
      const at = { ...range.to, timestampSeconds: range.toTimestampSeconds }
      return { indexed, at, branch: await snapshot.rollbacks(), tookMs: clock.now() - startMs }
    } finally {
      await snapshot.close()
    }
  }
}

/**
 * Opens the index once more. Newer blocks on the same branch do no harm: they are not read. A replica may show an older view, which
 * does not have them all, and has them soon.
 */
async function reopen(
  reader: Pick<StoreReader, 'openSnapshot'>,
  at: BlockAt,
  branch: number,
  { signal, pause }: MethodContext
) {
  const isBehind = (error: unknown) => error instanceof IndexMovedError && error.isBehind
  return retryWhileMoving(signal, isBehind, async () => {
    const snapshot = await reader.openSnapshot({ pause })
    try {
      if ((await snapshot.rollbacks()) !== branch) throw new IndexMovedError(at)
      const range = await snapshot.indexedRange()
      if (range === undefined || range.to.number < at.number) throw new IndexMovedError(at, true)
      return snapshot
    } catch (error) {
      await snapshot.close()
      throw error
    }
  })
}

/** Reads all of the account's history older than the index that nodes answer for. */
async function readOlder(chain: VerifiedChain, account: Address, context: MethodContext): Promise<ReadOlder> {
  const { older: nodes, traces } = chain
  if (nodes === undefined) return { covered: { deepHistory: 'none' } }
  for (;;) {
    const { snapshot, status } = await openSettled(chain, context)
    let below: BelowIndex | undefined
    let missing: MissingBelow | undefined
    let source: DeepSource | undefined
    try {
      if (!(await snapshot.marks()).backfilled) throw await notBackfilled(snapshot, status)
      source = await nodes.whoAnswers(snapshot, context.signal)
      // What lacks something is judged here, not refused.
      const rule = { isStrict: false }
      if (source !== 'none') below = await nodes.open(snapshot, account, status, context, rule)
      missing = await below?.missing(undefined)
    } finally {
      await snapshot.close()
    }
    if (missing === undefined) {
      const covered = await coverageBelow(source, below)
      if (below === undefined || covered.deepHistory === 'none') return { covered }
      const records = (blockNumber: number) => below.records({ olderThan: { blockNumber, index: 0 } })
      const candidates = await below.readCandidates()
      const range = { from: covered.deepFrom ?? 0, below: below.anchor.number }
      // An authorization that is missing shows: it used a nonce.
      const lacks = (await below.coverage()).gaps.filter(gap => gap !== 'authorities')
      return { covered, older: { ...range, lacks, isTraced: traces === 'on', records, candidates } }
    }
    await missing.read()
  }
}

interface ReadOlder {
  readonly covered: CoverageBelow
  readonly older?: OlderPart
}

interface IndexRead {
  readonly indexed: IndexedAccount
  readonly at: BlockAt
  readonly branch: number
  /** Time of one pass over the history. */
  readonly tookMs: number
}

/** The index has changed since the beginning: the certificate has to be made anew, or the caller gets this error. */
class IndexMovedError extends Refusal<'UPSTREAM_UNAVAILABLE'> {
  /** The snapshot shows an older state of the same branch. */
  readonly isBehind: boolean

  constructor({ number }: BlockAt, isBehind = false) {
    super('UPSTREAM_UNAVAILABLE', `The index does not stay at block ${number} while it is verified.`, {})
    this.isBehind = isBehind
  }
}

function notInTime({ to }: IndexedRange, blockNumber: number): Refusal {
  return new Refusal(
    'UPSTREAM_UNAVAILABLE',
    `The history was added up no further than from block ${to.number} down to ${blockNumber} in time.`,
    {}
  )
}
