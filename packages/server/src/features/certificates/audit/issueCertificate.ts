import {
  type Address,
  type AuditReader,
  type HoldingsReader,
  IndexDamagedError,
  type IndexedRange,
  type StatusReader
} from '@chain-data/index'
import { Audit, type AuditOptions, type CheckVerdict, type IndexedAccount, worstOf } from './Audit.ts'
import type { TokenName } from './accountState.ts'
import { tokenKey, tokenOf } from './changes.ts'
import { checkIndex, type IndexResult, judgeOlder, judgeUnknown } from './checkIndex.ts'
import { checkNative, type NativeResult } from './checkNative.ts'
import { checkOperations, type OperationsResult } from './checkOperations.ts'
import { checkSent, type SentResult } from './checkSent.ts'
import { checkTokens, type TokenResult } from './checkTokens.ts'
import { checkUnaltered, type HeaderChecking, type UnalteredResult } from './checkUnaltered.ts'
import type { CertificateFinding } from './Findings.ts'
import { joinOlder, type OlderHistory } from './joinOlder.ts'
import { candidateKey, type HistorySums, sumHistory } from './sumHistory.ts'

/** The proof that the history of an account is complete and unaltered; see `HistoryCertificate` in spec/openrpc.json. */
export interface Certificate {
  readonly verdict: CheckVerdict
  /** Nothing is missing. */
  readonly complete: CheckVerdict
  readonly unaltered: UnalteredResult
  readonly index: IndexResult
  readonly sent: SentResult
  readonly operations: OperationsResult
  readonly native: NativeResult
  /** Of all standards. */
  readonly tokens: readonly TokenResult[]
  readonly findings: readonly CertificateFinding[]
}

/** Maximum of candidates without any record. */
const maxHinted = 20_000

/**
 * Reads all that the index has of an account.
 *
 * @param options.older - history older than the index that counts as well.
 * @param options.onBlock - called with the oldest block that was read so far.
 * @throws {Refusal} see `sumHistory`.
 * @throws the signal's reason when aborted.
 */
export async function readIndexedAccount(
  snapshot: AuditReader & HoldingsReader & StatusReader,
  account: Address,
  { from, to }: IndexedRange,
  {
    older,
    signal,
    onBlock
  }: {
    readonly older?: OlderHistory | undefined
    readonly signal: AbortSignal
    readonly onBlock: (blockNumber: number) => void
  }
): Promise<IndexedAccount> {
  const first = older?.from ?? from
  const openingHeight = Math.max(0, first - 1)
  const rows = joinOlder(snapshot, older)
  const sums = await sumHistory(rows, account, { above: openingHeight, indexedFrom: from }, blockNumber => {
    signal.throwIfAborted()
    onBlock(blockNumber)
  })
  const damages = [...sums.damages]
  const read = async <T>(reading: Promise<T>, otherwise: T) =>
    reading.catch((error: unknown) => {
      if (!(error instanceof IndexDamagedError)) throw error
      damages.push(error)
      return otherwise
    })
  return {
    ...{ account, from: first, indexedFrom: from, openingHeight, sums, ...(older && { older }) },
    to: to.number,
    coverage: await snapshot.coverage(),
    ...(await read(readCandidates(rows, account, sums), noCandidates)),
    damages
  }
}

const noCandidates = { missingHoldings: [], hintedTokens: [], isHintedMore: false }

/** Compares the candidates with the history: each shows what the other has lost. */
async function readCandidates(
  snapshot: HoldingsReader,
  account: Address,
  { wanted, tokens }: HistorySums
): Promise<Pick<IndexedAccount, 'missingHoldings' | 'hintedTokens' | 'isHintedMore'>> {
  const missing = new Set(wanted)
  const hinted = new Map<string, TokenName>()
  let isHintedMore = false
  for await (const chunk of snapshot.holdingCandidates(account)) {
    for (const candidate of chunk) {
      missing.delete(candidateKey(candidate))
      const token = tokenOf(candidate)
      const key = tokenKey(token)
      if (tokens.has(key) || hinted.has(key)) continue
      if (hinted.size < maxHinted) hinted.set(key, token)
      else isHintedMore = true
    }
  }
  return { missingHoldings: [...missing], hintedTokens: [...hinted.values()], isHintedMore }
}

/**
 * Compares what the index has of an account with the chain's state at the newest indexed block, and follows each difference
 * to where it began.
 *
 * @param headers - how the blocks of the account are held against their headers.
 * @param options.followUntilMs - `Date.now()` after which no further difference is followed.
 * @remarks Two exchanges for every account, some more with its tokens; some dozen for each difference.
 */
export async function issueCertificate(options: AuditOptions, headers: HeaderChecking): Promise<Certificate> {
  const audit = new Audit(options)
  const rows = await checkIndex(audit)
  const sent = await checkSent(audit)
  const operations = await checkOperations(audit)
  const native = await checkNative(audit, sent.verdict)
  const tokens = await checkTokens(audit, rows.verdict)
  const index = { ...rows, verdict: worstOf([rows.verdict, judgeOlder(audit), judgeUnknown(audit)]) }
  const unaltered = await checkUnaltered(audit, headers)
  const complete = worstOf([index, sent, operations, native, ...tokens].map(({ verdict }) => verdict))
  return {
    verdict: worstOf([complete, unaltered.verdict]),
    complete,
    unaltered,
    index,
    sent,
    operations,
    native,
    tokens,
    findings: audit.findings.list()
  }
}
