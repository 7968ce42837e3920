import type { HistoryCertificate, TransactionRecord } from '@chain-data/client/fetch'
import type { ReactNode } from 'react'
import { Amount } from '../shared/Amount.tsx'
import { Dialog } from '../shared/Dialog.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { Icon } from '../shared/Icon.tsx'
import { plural } from '../shared/plural.ts'
import { SafeText } from '../shared/SafeText.tsx'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import { useChain } from '../shared/useChain.ts'
import { When } from '../shared/When.tsx'
import { type TokenFacts, useTokens } from '../timeline/useTokens.ts'
import { findingWords, proofWords } from './proofWords.ts'
import type { Proof } from './useCertificate.ts'

type Verdict = HistoryCertificate['verdict']
type NativeParts = HistoryCertificate['native']['parts']

const verdicts: Record<
  Verdict,
  { word: string; icon: 'check' | 'info' | 'cross' | 'question'; tone: string }
> = {
  proven: { word: 'Adds up', icon: 'check', tone: 'good' },
  explained: { word: 'Explained', icon: 'info', tone: 'good' },
  failed: { word: 'Does not add up', icon: 'cross', tone: 'bad' },
  unprovable: { word: 'Not known', icon: 'question', tone: 'waiting' }
}

/** What the native balance is made of, in the order of the sum. */
const nativeLines: readonly [name: keyof NativeParts, words: string, sign: 1n | -1n][] = [
  ['opening', 'Before the first indexed block', 1n],
  ['received', 'Received', 1n],
  ['internalReceived', 'From contracts', 1n],
  ['withdrawals', 'Validator withdrawals', 1n],
  ['rewards', 'Block rewards', 1n],
  ['tips', 'Tips of blocks', 1n],
  ['minted', 'Deposits of the rollup', 1n],
  ['sent', 'Sent', -1n],
  ['fees', 'Fees', -1n],
  ['internalSent', 'Sent by its code', -1n],
  ['burned', 'Burned', -1n]
]

const mostTokens = 100
/** What the account holds is named; of the rest the contract says enough. */
const noRecords: readonly TransactionRecord[] = []

/** The sums behind a proof: what the history adds up to, beside what the chain says. */
export function ProofDialog({
  chainId,
  certificate,
  proof: { isProving, prove },
  onClose
}: {
  chainId: number
  certificate: HistoryCertificate
  proof: Proof
  onClose: () => void
}) {
  const { address, asOf, index, tokens, nfts, findings } = certificate
  const known = useTokens({ chainId, address }, noRecords)
  const assets = [...tokens, ...nfts]
  return (
    <Dialog title={proofWords(certificate).text} titleLimit={300} className="proofDialog" onClose={onClose}>
      <p className="quiet">
        What the service has of this account is added up and compared with what the chain’s node says at block{' '}
        {shownInteger(asOf.blockNumber)}, <When seconds={asOf.timestamp} />.
      </p>
      <Check title="Index" verdict={index.verdict}>
        <Line words="Transactions that were written and are there">{shownInteger(index.transactions)}</Line>
      </Check>
      <NonceCheck sent={certificate.sent} />
      <NativeCheck native={certificate.native} chainId={chainId} />
      {assets.length > 0 && (
        <>
          <h3>Tokens and NFTs</h3>
          <table className="sums">
            <thead>
              <tr>
                <th scope="col">Contract</th>
                <th scope="col">Balance</th>
                <th scope="col">Verdict</th>
              </tr>
            </thead>
            <tbody>
              {assets.slice(0, mostTokens).map(asset => (
                <AssetRow
                  key={`${asset.address} ${'tokenId' in asset ? asset.tokenId : ''}`}
                  asset={asset}
                  facts={known.get(asset.address.toLowerCase())}
                />
              ))}
            </tbody>
          </table>
          {assets.length > mostTokens && (
            <p className="quiet">{plural(assets.length - mostTokens, 'more', 'more')} not shown here.</p>
          )}
        </>
      )}
      {findings.length > 0 && (
        <>
          <h3>What keeps it from being proven</h3>
          <ul className="findings">
            {findings.map((finding, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: they have no names, and the list never changes its order.
              <li key={at}>
                <SafeText className="wrap" text={findingWords(finding)} limit={300} />
                {finding.blockNumber !== undefined && (
                  <span className="quiet"> (block {shownInteger(finding.blockNumber)})</span>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      <button type="button" className="button" aria-disabled={isProving} onClick={() => isProving || prove()}>
        {isProving ? 'Proving …' : 'Prove it again'}
      </button>
    </Dialog>
  )
}

function Check({ title, verdict, children }: { title: string; verdict: Verdict; children: ReactNode }) {
  return (
    <section className="check">
      <h3>
        {title} <VerdictWord verdict={verdict} />
      </h3>
      <dl>{children}</dl>
    </section>
  )
}

function VerdictWord({ verdict }: { verdict: Verdict }) {
  const { word, icon, tone } = verdicts[verdict]
  return (
    <span className={`verdict ${tone}`}>
      <Icon name={icon} />
      {word}
    </span>
  )
}

function Line({ words, isSum = false, children }: { words: string; isSum?: boolean; children: ReactNode }) {
  return (
    <div className={isSum ? 'line sum' : 'line'}>
      <dt>{words}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function NonceCheck({ sent }: { sent: HistoryCertificate['sent'] }) {
  const { opening, transactions, authorizations, creations, count, verdict } = sent
  return (
    <Check title="Sent (nonces)" verdict={verdict}>
      {opening !== undefined && opening !== 0n && (
        <Line words="Before the first indexed block">{shownInteger(opening)}</Line>
      )}
      <Line words="Transactions">{shownInteger(transactions)}</Line>
      {authorizations > 0 && <Line words="Authorizations">{shownInteger(authorizations)}</Line>}
      {creations > 0 && <Line words="Contracts that its code created">{shownInteger(creations)}</Line>}
      {count !== undefined && (
        <Line words="The chain’s count" isSum>
          {shownInteger(count)}
        </Line>
      )}
    </Check>
  )
}

function NativeCheck({ native, chainId }: { native: HistoryCertificate['native']; chainId: number }) {
  const { symbol, decimals } = useChain(chainId)
  const { verdict, parts, computed, balance } = native
  const amount = (value: bigint, signed = false) => (
    <Amount value={value} decimals={decimals} unit={symbol} signed={signed} maxFraction={18} />
  )
  return (
    <Check title={symbol} verdict={verdict}>
      {nativeLines.map(([name, words, sign]) => {
        const part = parts[name]
        if (part === undefined || part === 0n) return null
        return (
          <Line key={name} words={words}>
            {amount(part * sign, name !== 'opening')}
          </Line>
        )
      })}
      {computed !== undefined && (
        <Line words="Added up" isSum>
          {amount(computed)}
        </Line>
      )}
      {balance !== undefined && <Line words="The chain’s balance">{amount(balance)}</Line>}
    </Check>
  )
}

type Asset = HistoryCertificate['tokens'][number] | HistoryCertificate['nfts'][number]

function AssetRow({ asset, facts }: { asset: Asset; facts: TokenFacts | undefined }) {
  const { address, received, sent, opening = 0n, balance, verdict, explanation } = asset
  const tokenId = 'tokenId' in asset ? asset.tokenId : undefined
  const unit = { unit: facts?.symbol ?? '', decimals: facts?.decimals ?? 0 }
  const total = opening + received - sent
  return (
    <tr>
      <th scope="row">
        <ShortAddress address={address} label="contract address" />
        {tokenId !== undefined && <SafeText text={` #${tokenId}`} limit={12} />}
      </th>
      <td>
        {balance === undefined ? 'no answer' : <Amount value={balance} maxFraction={18} {...unit} />}
        {total !== balance && (
          <div className="quiet">
            adds up to <Amount value={total} maxFraction={18} {...unit} />
          </div>
        )}
      </td>
      <td>
        <VerdictWord verdict={verdict} />
        {explanation !== undefined && (
          <span className="quiet tiny">
            {' '}
            <SafeText text={explanation.replaceAll('-', ' ')} limit={40} />
          </span>
        )}
      </td>
    </tr>
  )
}
