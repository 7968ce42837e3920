import { useEffect, useState } from 'react'
import { chainById, settings } from '../config.ts'
import { type AccountRoute, accountHref } from '../shared/route.ts'
import { shorten } from '../shared/ShortAddress.tsx'
import { forgetAccounts, recentAccounts } from './recentAccounts.ts'

/** What the page is for, and accounts to begin with. */
export function StartPage() {
  const [recent, setRecent] = useState(recentAccounts)
  useEffect(() => {
    document.title = 'Portfolio'
  }, [])
  const chains = settings.chains.map(({ name }) => name)
  return (
    <div className="start">
      <h1>What does an address hold?</h1>
      <p className="quiet">
        Enter an address above. Balances, tokens, NFTs and transactions come from{' '}
        {settings.serviceUrl.replace(/^https?:\/\//, '')}, for {new Intl.ListFormat('en').format(chains)}.
      </p>
      {settings.samples.length > 0 && (
        <section className="card" aria-labelledby="samples">
          <h2 id="samples">Accounts to try</h2>
          <AccountLinks accounts={settings.samples} />
        </section>
      )}
      {recent.length > 0 && (
        <section className="card" aria-labelledby="recent">
          <h2 id="recent">Recently viewed</h2>
          <AccountLinks accounts={recent} />
          <button
            type="button"
            className="button"
            onClick={() => {
              forgetAccounts()
              setRecent([])
            }}
          >
            Forget these
          </button>
        </section>
      )}
    </div>
  )
}

function AccountLinks({ accounts }: { accounts: readonly (AccountRoute & { readonly name?: string })[] }) {
  return (
    <ul className="links">
      {accounts.map(({ chainId, address, name }) => (
        <li key={`${chainId} ${address}`}>
          <a href={accountHref({ chainId, address })} title={address}>
            <span className="address">{shorten(address)}</span>
            {name !== undefined && <span className="called">{name}</span>}
            <span className="quiet">{chainById(chainId).name}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}
