import { hasReason } from '@chain-data/client/fetch'
import { getSyncStatusQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { chainById } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { explainError } from '../shared/explainError.ts'
import { Icon, type IconName } from '../shared/Icon.tsx'
import type { AccountRoute } from '../shared/route.ts'
import { SafeText } from '../shared/SafeText.tsx'
import { useHistory } from '../timeline/useHistory.ts'
import { ProofDialog } from './ProofDialog.tsx'
import { proofWords } from './proofWords.ts'
import { useCertificate } from './useCertificate.ts'
import './completeness.css'

const icons: Record<'good' | 'waiting' | 'bad', IconName> = {
  good: 'shield',
  waiting: 'question',
  bad: 'warning'
}

/** Whether the history of an account is proven to be complete; nothing where the host offers no proofs. */
export function Completeness(route: AccountRoute) {
  return chainById(route.chainId).family === 'evm' ? <EvmCompleteness {...route} /> : null
}

function EvmCompleteness({ chainId, address }: AccountRoute) {
  const client = useClient()
  const { snapshot } = useHistory({ chainId, address })
  const proof = useCertificate({ chainId, address }, snapshot)
  const status = useQuery(getSyncStatusQuery(client, { chainId }))
  const [isOpen, setOpen] = useState(false)
  const { certificate, error, isProving, isUnknown, prove } = proof
  // A host without the one has not the other either: then there is nothing to press.
  if (isUnknown || hasReason(status.error, 'METHOD_NOT_FOUND') || snapshot.records === undefined) return null

  if (certificate !== undefined) {
    const { tone, text } = proofWords(certificate)
    return (
      <div className="proof">
        <div role="status">
          <button type="button" className={`proofBadge ${tone}`} onClick={() => setOpen(true)}>
            <Icon name={icons[tone]} />
            <SafeText text={text} limit={140} />
            <span className="unseen">. Show the proof</span>
          </button>
        </div>
        {isOpen && <ProofDialog {...{ chainId, proof, certificate }} onClose={() => setOpen(false)} />}
      </div>
    )
  }
  if (isProving) {
    return (
      <p className="proof proofBadge quiet" role="status">
        <Icon name="clock" /> Proving that nothing is missing …
      </p>
    )
  }
  return (
    <div className="proof" role="status">
      <span className="quiet">
        {error === null
          ? 'Is anything missing?'
          : `Could not be proven now: ${explainError(error, chainId).title}.`}
      </span>
      <button type="button" className="linkButton" onClick={prove}>
        {error === null ? 'Prove it' : 'Try again'}
      </button>
    </div>
  )
}
