import { plural } from '../../../platform/plural.ts'
import { type Audit, type CheckVerdict, worstOf } from './Audit.ts'
import type { AccountAt } from './accountState.ts'
import { creationsIn } from './changes.ts'
import { eventsOf } from './examineBlock.ts'
import { findChange, followDifference } from './followDifference.ts'
import { NumberSet, type NumberSpan } from './NumberSet.ts'
import type { Authorization } from './sumHistory.ts'

export interface SentResult {
  readonly verdict: CheckVerdict
  readonly opening?: bigint
  readonly transactions: number
  readonly authorizations: number
  readonly creations: bigint
  /** The first nonce of a contract, which nothing used (EIP-161); absent: it was no contract, or began before. */
  readonly birth?: 1
  readonly count: bigint
}

/** Maximum of unexplained nonces that are followed to their blocks. */
const maxGaps = 8

/**
 * Every nonce of the account, against what used it: transactions say theirs; authorizations count where the state shows that
 * they were valid; of contracts that the account's code created only the number is known; and a contract begins with
 * nonce 1 (EIP-161).
 */
export async function checkSent(audit: Audit): Promise<SentResult> {
  const { sums } = audit.indexed
  const count = audit.state.now.nonce
  const opening = (await audit.opening())?.nonce ?? openingOf(sums.nonces)
  const used = await validAuthorizations(audit, opening ?? 0n, count)
  const carried = await judgeCarriers(audit, used.seen)
  const rest =
    opening === undefined
      ? await judgeUnopened(audit, count, used.valid)
      : await judge(audit, opening, count, used)
  return {
    ...{ verdict: worstOf([rest, carried]), ...(opening !== undefined && { opening }) },
    // More of them may have been found by now, where nonces were followed to their blocks.
    ...{ transactions: sums.sent, authorizations: used.valid.size, creations: sums.creations },
    ...(opening !== undefined && isBorn(audit.state.now, opening) && { birth: 1 }),
    count
  }
}

/** An account has the transactions that carried its valid authorizations in its history. */
async function judgeCarriers(audit: Audit, seen: readonly Authorization[]): Promise<CheckVerdict> {
  const { sums } = audit.indexed
  const lost = seen.filter(({ blockNumber }) => !sums.setCodeBlocks.has(blockNumber))
  for (const { blockNumber, nonce } of lost) {
    if (!audit.mayFollow()) continue
    const { missing } = await audit.examine(blockNumber)
    if (missing.some(({ kind }) => kind === 'MISSING_TRANSACTION')) continue
    const message = `The history lacks the transaction of block ${blockNumber} whose authorization used nonce ${nonce}.`
    audit.findings.add({ kind: 'MISSING_TRANSACTION', message, blockNumber, nonce })
  }
  return lost.length > 0 ? 'failed' : 'proven'
}

/** An account that sent the transaction with nonce 0 had sent nothing before. */
function openingOf(nonces: NumberSet): bigint | undefined {
  return nonces.first === 0n ? 0n : undefined
}

interface UsedAuthorizations {
  readonly valid: NumberSet
  /** Those that the state shows to be valid. */
  readonly seen: readonly Authorization[]
  /** Some could not be checked. */
  readonly isUnsure: boolean
}

/**
 * Nonces that authorizations have used. A tuple that is not valid changes nothing, and any account may send one that was used
 * up: one counts only if the state says that its block went past its nonce.
 */
async function validAuthorizations(
  audit: Audit,
  opening: bigint,
  count: bigint
): Promise<UsedAuthorizations> {
  const { authorizations, nonces } = audit.indexed.sums
  const filling = authorizations.filter(
    ({ nonce }) => nonce >= opening && nonce < count && !nonces.has(nonce)
  )
  const heights = filling.flatMap(({ blockNumber }) => [blockNumber - 1, blockNumber])
  const accounts = await audit.accounts(heights)
  const valid = new NumberSet()
  const seen: Authorization[] = []
  const unsure: Authorization[] = []
  for (const [place, authorization] of filling.entries()) {
    const [before, after] = [accounts[2 * place], accounts[2 * place + 1]]
    const { nonce } = authorization
    if (before === undefined || after === undefined) unsure.push(authorization)
    else if (before.nonce <= nonce && nonce < after.nonce) {
      valid.add(nonce)
      seen.push(authorization)
    }
  }
  const isUnsure = unsure.some(({ nonce }) => !valid.has(nonce))
  for (const { nonce } of unsure) valid.add(nonce)
  return { valid, seen, isUnsure }
}

async function judge(
  audit: Audit,
  opening: bigint,
  count: bigint,
  { valid, isUnsure }: UsedAuthorizations
): Promise<CheckVerdict> {
  const { sums } = audit.indexed
  const { now } = audit.state
  const known = sums.nonces.countIn(opening, count) + BigInt(valid.size)
  if (sums.hasOddNonces) return judgeOdd(audit, opening, count, valid)
  const unexpected = BigInt(sums.nonces.size) - sums.nonces.countIn(opening, count)
  if (unexpected > 0n) {
    audit.findings.add({
      kind: 'UNEXPECTED_NONCE',
      message: `The history has ${plural(unexpected, 'transaction')} whose nonces the account has not used.`
    })
    return 'failed'
  }
  const open = count - opening - known
  const birth = isBorn(now, opening)
  if (open === sums.creations || (birth && open === sums.creations + 1n)) {
    if (!isUnsure) return 'proven'
    audit.missingState()
    return 'unprovable'
  }
  if (open < sums.creations) return judgeDestroyed(audit)
  if (now.code === 'contract') return followCreations(audit, opening)
  return followGaps(audit, unusedOf(sums.nonces, valid, opening, count), valid, isUnsure)
}

/** It is a contract now and has used no nonce before: its first one was given to it. */
function isBorn({ code }: AccountAt, opening: bigint): boolean {
  return code === 'contract' && opening === 0n
}

/** A contract that has destroyed itself begins anew, or is no more: what it created before does not show in its nonce. */
function judgeDestroyed(audit: Audit): CheckVerdict {
  const { sums } = audit.indexed
  const { now } = audit.state
  if (now.nonce === 0n && now.code === 'none' && sums.sent === 0) return 'proven'
  audit.findings.add({
    kind: 'MISSING_NONCE',
    message: 'The account has created more contracts than its nonce counts: it was destroyed in between.'
  })
  return 'unprovable'
}

/** System transactions of rollups use no nonce, or the same one: then their number decides, and nothing else can. */
function judgeOdd(audit: Audit, opening: bigint, count: bigint, valid: NumberSet): CheckVerdict {
  const { sums } = audit.indexed
  if (BigInt(sums.sent) + BigInt(valid.size) + sums.creations === count - opening) return 'proven'
  if (sums.nonces.countIn(opening, count) + BigInt(valid.size) + sums.creations === count - opening) {
    return 'proven'
  }
  audit.findings.add({
    kind: 'MISSING_NONCE',
    message: 'The account has sent transactions of a type whose nonces follow rules of this chain.'
  })
  return 'unprovable'
}

/** Judges without the state before the index: gaps between known nonces still show what is missing. */
async function judgeUnopened(audit: Audit, count: bigint, valid: NumberSet): Promise<CheckVerdict> {
  audit.missingOpening()
  const { nonces, creations } = audit.indexed.sums
  const { first } = nonces
  if (first === undefined || creations > 0n || mayBeUsedOtherwise(audit)) return 'unprovable'
  const gaps = nonces.gapsIn(first, count)
  // It is not known which nonces were used before the first of them.
  return gaps.length === 0 ? 'unprovable' : followGaps(audit, gaps, valid, true)
}

function unusedOf(
  nonces: NumberSet,
  valid: NumberSet,
  opening: bigint,
  count: bigint
): readonly NumberSpan[] {
  return nonces.gapsIn(opening, count).flatMap(({ first, last }) => valid.gapsIn(first, last + 1n))
}

/**
 * Follows each nonce to the block in which the account used it. What is older than an index is not known to have authorizations
 * until then.
 *
 * @param valid - gets the nonces of the authorizations that are found.
 * @param isUnsure - of other nonces it is not known whether they were used.
 */
async function followGaps(
  audit: Audit,
  gaps: readonly NumberSpan[],
  valid: NumberSet,
  isUnsure: boolean
): Promise<CheckVerdict> {
  const ends = new Set<NonceEnd>()
  let left = maxGaps
  for (const { first, last } of gaps) {
    for (let nonce = first; nonce <= last; nonce++) {
      if (left-- <= 0) {
        ends.add('unexplained')
        break
      }
      const end = await followNonce(audit, nonce)
      if (end === 'authorized') valid.add(nonce)
      ends.add(end)
    }
  }
  if (ends.has('missing')) return 'failed'
  if (!ends.has('unexplained') && !isUnsure) return 'proven'
  if (mayBeUsedOtherwise(audit) && !audit.isTraced) audit.notTraced()
  return 'unprovable'
}

/** What following a nonce ends with: the history lacks something of its block, an authorization there used it, or neither. */
type NonceEnd = 'missing' | 'authorized' | 'unexplained'

async function followNonce(audit: Audit, nonce: bigint): Promise<NonceEnd> {
  const { openingHeight, to } = audit.indexed
  const lost = (message: string, blockNumber?: number) =>
    audit.findings.add({
      kind: 'MISSING_NONCE',
      message,
      nonce,
      ...(blockNumber !== undefined && { blockNumber })
    })
  if (!audit.mayFollow()) {
    lost(`No indexed transaction has used nonce ${nonce}.`)
    return 'unexplained'
  }
  // As a quantity: 0 before the nonce was used, 1 since. The index has it nowhere.
  const found = await findChange(
    audit,
    { change: () => 0n, changeByEvents: () => 0n },
    async heights => {
      const accounts = await audit.accounts(heights)
      return accounts.map(account => (account === undefined ? undefined : account.nonce > nonce ? 1n : 0n))
    },
    { low: openingHeight, high: to, highDifference: 1n }
  )
  if (found.kind === 'unreadable') {
    audit.missingState()
    lost(`No indexed transaction has used nonce ${nonce}.`)
    return mayBeUsedOtherwise(audit) ? 'unexplained' : 'missing'
  }
  const { missing, block } = await audit.examine(found.height)
  if (missing.length > 0) return 'missing'
  const events = block === undefined ? [] : eventsOf(block, audit.indexed.account)
  const isAuthorized = events.some(event => event.kind === 'authorization' && event.nonce === nonce)
  if (creationsIn(events) === 0n && !isAuthorized) {
    lost(`Nonce ${nonce} was used in block ${found.height}, by nothing that is known.`, found.height)
  }
  return isAuthorized && creationsIn(events) === 0n ? 'authorized' : 'unexplained'
}

/** By an authorization that was not kept, or by code of the account that created a contract. */
function mayBeUsedOtherwise(audit: Audit): boolean {
  const { sums } = audit.indexed
  return audit.state.now.code !== 'none' || sums.authorizations.length > 0
}

/** A contract has created more than the index knows of. */
async function followCreations(audit: Audit, opening: bigint): Promise<CheckVerdict> {
  if (!audit.isTraced) {
    audit.notTraced()
    return 'unprovable'
  }
  const { changes, end } = await followDifference(audit, {
    quantity: { change: () => 0n, changeByEvents: creationsIn },
    read: async heights => (await audit.accounts(heights)).map(account => account?.nonce),
    ...{ opening, difference: audit.state.now.nonce - opening - audit.indexed.sums.creations },
    maxChanges: maxGaps
  })
  if (changes.some(({ examination }) => examination.missing.length > 0)) return 'failed'
  if (end === 'unreadable') {
    audit.missingState()
    return 'unprovable'
  }
  audit.findings.add({
    kind: 'MISSING_NONCE',
    message: 'The contract has used more nonces than are known of.'
  })
  return 'unprovable'
}
