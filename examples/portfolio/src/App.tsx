import { AccountPage } from './AccountPage.tsx'
import { useRoute } from './shared/route.ts'

/** The whole page: the bar with the search, and below it an account or the start. */
export function App() {
  const route = useRoute()
  return (
    <div className="page">
      <main>
        {route === undefined ? null : <AccountPage key={`${route.chainId} ${route.address}`} route={route} />}
      </main>
    </div>
  )
}
