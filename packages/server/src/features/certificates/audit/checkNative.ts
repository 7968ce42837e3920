import { nativeChange, nativeChangeOfEvents, nativeMoves } from '../../../evm/blocks/nativeChange.ts'
import type { Audit, CheckVerdict } from './Audit.ts'
import { eventsOf } from './examineBlock.ts'
import { type FollowedChange, followDifference } from './followDifference.ts'
import { addAmount, type NativeSums } from './sumHistory.ts'

export interface NativeResult {
  readonly verdict: CheckVerdict
  readonly opening?: bigint
  readonly parts: NativeSums
  readonly computed?: bigint
  readonly balance: bigint
}

/** Maximum of changed blocks that are examined; without traces, every payment by a contract is one. */
const maxChanges = 12

/** Compares everything that moved native currency with the balance. */
export async function checkNative(audit: Audit, sentVerdict: CheckVerdict): Promise<NativeResult> {
  const parts = { ...audit.indexed.sums.native }
  const { balance } = audit.state.now
  const opening = (await audit.opening())?.balance
  if (opening === undefined) {
    audit.missingOpening()
    return { verdict: 'unprovable', parts, balance }
  }
  const difference = balance - opening - changeOf(parts)
  const verdict =
    difference === 0n
      ? judgeEqual(audit, sentVerdict)
      : await followBalance(audit, sentVerdict, { opening, difference, parts })
  return { verdict, opening, parts, computed: opening + changeOf(parts), balance }
}

function changeOf(parts: NativeSums): bigint {
  const { withdrawals, rewards, tips, minted, burned } = parts
  return nativeChange(parts) + withdrawals + rewards + tips + minted - burned
}

/**
 * Judges whether a sum that fits is a proof. With traces, every part is known. Without, the account may have been paid by contracts,
 * which only adds: an account that has a key and runs no code cannot pay but by its own transactions, and all of those are known
 * when all of its nonces are. So nothing can have been added that something else took away. Code can take away what it was
 * paid, and nothing would show.
 */
function judgeEqual(audit: Audit, sentVerdict: CheckVerdict): CheckVerdict {
  if (audit.isTraced) return 'proven'
  const { sums } = audit.indexed
  const hasKey = sums.sent > 0
  const hasRunCode = audit.state.now.code !== 'none' || sums.authorizations.length > 0
  if (hasKey && !hasRunCode && sentVerdict === 'proven') return 'proven'
  audit.notTraced()
  return 'unprovable'
}

/** @param known.parts - get what blocks older than the index paid. */
async function followBalance(
  audit: Audit,
  sentVerdict: CheckVerdict,
  {
    opening,
    difference,
    parts
  }: { readonly opening: bigint; readonly difference: bigint; readonly parts: NativeSums }
): Promise<CheckVerdict> {
  const { account, openingHeight, older } = audit.indexed
  const { changes, end } = await followDifference(audit, {
    quantity: {
      change: known => nativeChange(nativeMoves(known, account)),
      changeByEvents: nativeChangeOfEvents
    },
    read: async heights => (await audit.accounts(heights)).map(found => found?.balance),
    ...{ opening, difference, maxChanges }
  })
  /** Withdrawals, tips and the like of blocks before the index: they are kept nowhere, and the block shows them. */
  const isEvent = ({ height, gained, examination: { block } }: FollowedChange) =>
    older !== undefined &&
    height < older.below &&
    block !== undefined &&
    gained === nativeChangeOfEvents(eventsOf(block, account))
  for (const change of changes) {
    const { height, gained, examination } = change
    if (examination.missing.length > 0) continue
    if (isEvent(change)) {
      for (const event of examination.block ? eventsOf(examination.block, account) : [])
        addAmount(parts, event)
    } else if (!examination.isTraced) audit.notTraced(height)
    else {
      audit.findings.add({
        kind: 'UNEXPLAINED_BALANCE',
        message: `The balance changed by ${gained} wei in block ${height} in a way that neither its transactions nor their traces explain.`,
        blockNumber: height
      })
    }
  }
  if (changes.some(({ examination }) => examination.missing.length > 0)) return 'failed'
  if (end === 'done') return changes.every(isEvent) ? judgeEqual(audit, sentVerdict) : 'unprovable'
  if (end === 'unreadable') audit.missingState()
  audit.findings.add({
    kind: 'UNEXPLAINED_BALANCE',
    message: `The balance differs by ${difference} wei from all that is known since block ${openingHeight}.`
  })
  if (!audit.isTraced) {
    audit.notTraced()
    return 'unprovable'
  }
  // No examined block lacks anything: only a lost row can explain the rest.
  return end === 'unreadable' ? 'failed' : 'unprovable'
}
