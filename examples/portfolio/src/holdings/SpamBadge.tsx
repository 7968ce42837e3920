import type { SpamVerdict } from '@chain-data/client/fetch'
import { Icon } from '../shared/Icon.tsx'
import { spamReasons } from './reasons.ts'

/** A quiet word about a token that may deceive, with the reasons in its title; nothing for others. */
export function SpamBadge({ spam }: { spam: SpamVerdict | undefined }) {
  if (spam === undefined || spam.verdict === 'ok') return null
  const reasons = spamReasons(spam.reasons)
  return (
    <span className="badge" title={reasons}>
      <Icon name="flag" />
      {spam.verdict === 'spam' ? 'Spam' : 'Suspicious'}
      <span className="unseen">: {reasons}</span>
    </span>
  )
}
