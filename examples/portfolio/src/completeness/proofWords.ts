import type { HistoryCertificate } from '@chain-data/client/fetch'
import { shownInteger } from '../shared/formatAmount.ts'

/** What a proof says, in one line. */
export interface ProofWords {
  readonly tone: 'good' | 'waiting' | 'bad'
  readonly text: string
}

/** Findings that say what cannot be known, as people say it; of others the service's own words are shown. */
const unknowns: Readonly<Record<string, string>> = {
  NOT_TRACED: 'payments by contracts are not known of all blocks',
  NOT_COUNTED: 'the account has had too many tokens to look for each',
  NOT_FOLLOWED: 'there are more differences than one proof follows',
  STATE_UNAVAILABLE: 'the node does not know the state of older blocks',
  BALANCE_UNREADABLE: 'a token contract does not say what the account holds',
  UNEXPLAINED_BALANCE: 'the balance changed in a block that does not say why'
}

/** The verdict in words, with the block up to which it holds. */
export function proofWords({ verdict, complete, asOf, covers, findings }: HistoryCertificate): ProofWords {
  const block = shownInteger(asOf.blockNumber)
  if (verdict === 'proven' || verdict === 'explained') {
    const from = covers.from > 0 ? ` from block ${shownInteger(covers.from)}` : ''
    return { tone: 'good', text: `Complete${from}, proven to block ${block}` }
  }
  const [finding] = findings
  const why = finding === undefined ? 'the proof does not say why' : findingWords(finding)
  if (verdict === 'failed') {
    const what = (complete ?? verdict) === 'failed' ? 'Something is missing' : 'Something was altered'
    return { tone: 'bad', text: `${what}: ${why}` }
  }
  return { tone: 'waiting', text: `Not proven: ${why}` }
}

/** One finding in words. */
export function findingWords({ kind, message }: { kind: string; message: string }): string {
  return Object.hasOwn(unknowns, kind) ? (unknowns[kind] ?? message) : message
}
