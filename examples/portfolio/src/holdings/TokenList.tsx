import { useState } from 'react'
import { Amount } from '../shared/Amount.tsx'
import { cutText } from '../shared/cutText.ts'
import { plural } from '../shared/plural.ts'
import { SafeImage } from '../shared/SafeImage.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import type { TokenView } from './HoldingsView.ts'
import { SpamBadge } from './SpamBadge.tsx'
import { Value } from './Value.tsx'

/** Tokens as a table, with a column of values where any is known; on narrow screens each row is a card. */
export function TokenList({
  tokens,
  label,
  currency
}: {
  tokens: readonly TokenView[]
  label: string
  currency: string | undefined
}) {
  const valuesIn = tokens.some(({ value }) => value !== undefined) ? currency : undefined
  return (
    <table className="tokens">
      <caption className="unseen">{label}</caption>
      <thead className="unseen">
        <tr>
          <th scope="col">Token</th>
          <th scope="col">Amount</th>
          {valuesIn !== undefined && <th scope="col">Value</th>}
        </tr>
      </thead>
      <tbody>
        {tokens.map(token => (
          <TokenRow key={token.key} token={token} valuesIn={valuesIn} />
        ))}
      </tbody>
    </table>
  )
}

function TokenRow({ token, valuesIn }: { token: TokenView; valuesIn: string | undefined }) {
  const { name, symbol, decimals, amount, token: address, image, value, spam, note, accounts } = token
  const called = cutText(name, 40) || cutText(symbol, 40) || 'Token without a name'
  return (
    <tr className={spam?.verdict === 'spam' ? 'doubtful' : undefined}>
      <th scope="row">
        <div className="tokenName">
          <SafeImage image={image} name={name || symbol} shape="logo" />
          <div>
            <SafeText text={cutText(name, 40) === '' ? called : name} limit={40} /> <SpamBadge spam={spam} />
            <div className="quiet tiny">
              <ShortAddress address={address} label="token address" />
            </div>
          </div>
        </div>
      </th>
      <td>
        {decimals === undefined ? (
          <>
            <Amount value={amount} decimals={0} />
            <div className="quiet tiny">base units; its decimals are unknown</div>
          </>
        ) : (
          <Amount value={amount} decimals={decimals} unit={symbol} />
        )}
        {accounts !== undefined && <TokenAccounts accounts={accounts} decimals={decimals ?? 0} />}
        {note !== undefined && <div className="quiet tiny">{note}</div>}
      </td>
      {valuesIn !== undefined && (
        <td>{value !== undefined && <Value value={value} currency={valuesIn} />}</td>
      )}
    </tr>
  )
}

/** The accounts of one mint, on demand. */
function TokenAccounts({
  accounts,
  decimals
}: {
  accounts: NonNullable<TokenView['accounts']>
  decimals: number
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="tokenAccounts quiet tiny"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{plural(accounts.length, 'account', 'accounts')}</summary>
      {isOpen && (
        <ul>
          {accounts.map(({ address, amount }) => (
            <li key={address}>
              <ShortAddress address={address} label="token account" />{' '}
              <Amount value={amount} decimals={decimals} />
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}
