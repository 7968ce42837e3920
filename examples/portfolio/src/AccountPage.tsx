import type { AccountRoute } from './shared/route.ts'
import { ShortAddress } from './shared/ShortAddress.tsx'

/** Everything about one account on one chain. */
export function AccountPage({ route: { chainId, address } }: { route: AccountRoute }) {
  return (
    <article>
      <h1>
        <ShortAddress address={address} /> {chainId}
      </h1>
    </article>
  )
}
