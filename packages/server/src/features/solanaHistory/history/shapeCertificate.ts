import type { SolanaFinding, SolanaHistoryCertificate } from '@chain-data/protocol'
import type { Gap } from './checkContinuity.ts'
import type { SolanaHistory } from './SolanaHistory.ts'
import { shapeFacts, shapeGap } from './shapeHistory.ts'

/**
 * Judges a whole history: `failed` where a balance changed and no transaction says why, else `unprovable` where something cannot be
 * known, else `proven`.
 *
 * @param history - From the first transaction that the nodes have up to the balances of today, with all token accounts.
 */
export function shapeCertificate(wallet: string, history: SolanaHistory): SolanaHistoryCertificate {
  const { gaps, transactions } = history
  const { covers } = shapeFacts(history)
  const findingsOf = (cause: Gap['cause']) =>
    gaps.filter(each => each.cause === cause).map(gap => findingOf(gap, wallet, history))
  const missing = findingsOf('missing')
  const unknown = [...beginningOf(history, findingsOf('pruned')), ...unreadableOf(history)]
  const explained = [...findingsOf('rent'), ...findingsOf('reward')]
  return {
    address: wallet,
    verdict: missing.length > 0 ? 'failed' : unknown.length > 0 ? 'unprovable' : 'proven',
    covers,
    transactions: transactions.length,
    findings: [...missing, ...unknown, ...explained]
  }
}

function findingOf(gap: Gap, wallet: string, { fromSlot, toSlot }: SolanaHistory): SolanaFinding {
  const { account, mint, older, newer, post, pre, cause } = gap
  const balance = account === wallet ? 'The balance of the wallet' : `The balance of token account ${account}`
  const unit = mint === undefined ? 'lamports' : `base units of mint ${mint}`
  const change = `${balance} changed by ${BigInt(pre) - BigInt(post)} ${unit}`
  const from = older === undefined ? 'before its oldest transaction' : `between transaction ${nameOf(older)}`
  const to = newer === undefined ? `slot ${toSlot}` : `transaction ${nameOf(newer)}`
  const where = older === undefined ? `${from}, ${to}` : `${from} and ${to}`
  const said = {
    missing: `${change} ${where}: at least one transaction is missing there, or something moved the balance in a way that is not known here.`,
    pruned: `${balance} was ${pre} ${unit} ${where}, and ${withoutOlder(fromSlot)}: what moved it is not known.`,
    rent: `${change} ${where}: the cluster collected rent.`,
    reward: `${change} ${where}: the cluster paid a staking or voting reward of this amount.`
  }
  return { kind: kindOf(cause, fromSlot), message: said[cause], account, gap: shapeGap(gap) }
}

function nameOf({ transaction }: NonNullable<Gap['older']>): string {
  return transaction.signature
}

function kindOf(cause: Gap['cause'], fromSlot: number | undefined): string {
  if (cause === 'missing') return 'GAP'
  if (cause === 'pruned') return fromSlot === undefined ? 'FIRST_SLOT_UNKNOWN' : 'HISTORY_PRUNED'
  return cause === 'rent' ? 'RENT' : 'REWARD'
}

/** What is not known of the time before the nodes' first block; nothing where they have all blocks. */
function beginningOf(history: SolanaHistory, opening: readonly SolanaFinding[]): readonly SolanaFinding[] {
  const { fromSlot } = history
  if (opening.length > 0) return opening
  if (shapeFacts(history).covers.reason === 'genesis') return []
  const message =
    fromSlot === undefined
      ? 'No node says which blocks it has, so there may be older transactions than the oldest here.'
      : `The nodes have no blocks older than slot ${fromSlot}, so there may be older transactions than the oldest here.`
  return [{ kind: kindOf('pruned', fromSlot), message }]
}

function withoutOlder(fromSlot: number | undefined): string {
  return fromSlot === undefined
    ? 'no node says which blocks it has'
    : `the nodes have no blocks older than slot ${fromSlot}`
}

function unreadableOf({ balances }: SolanaHistory): readonly SolanaFinding[] {
  return (balances?.unreadable ?? []).map(account => ({
    kind: 'BALANCE_UNREADABLE',
    message: `The bytes of token account ${account} were refused, so its transactions are compared with each other and not with its balance of today.`,
    account
  }))
}
