import { AccountPage } from './AccountPage.tsx'
import { AddressSearch } from './search/AddressSearch.tsx'
import { StartPage } from './search/StartPage.tsx'
import { Icon } from './shared/Icon.tsx'
import { useRoute } from './shared/route.ts'
import { useTheme } from './shared/theme.ts'

const themeIcons = { auto: 'halves', light: 'sun', dark: 'moon' } as const

/** The whole page: the bar with the search, and below it an account or the start. */
export function App() {
  const route = useRoute()
  const { theme, next } = useTheme()
  return (
    <div className="page">
      <header className="bar">
        <a className="brand" href="#/">
          Portfolio
        </a>
        <AddressSearch route={route} />
        <button
          type="button"
          className="button theme"
          onClick={next}
          aria-label={`Theme: ${theme}`}
          title={`Theme: ${theme}`}
        >
          <Icon name={themeIcons[theme]} />
        </button>
      </header>
      <main>
        {route === undefined ? (
          <StartPage />
        ) : (
          <AccountPage key={`${route.chainId} ${route.address}`} route={route} />
        )}
      </main>
    </div>
  )
}
