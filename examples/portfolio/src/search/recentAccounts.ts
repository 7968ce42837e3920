import { type AccountRoute, readRoute } from '../shared/route.ts'

const key = 'portfolio-recent'
const most = 5
let memory: readonly AccountRoute[] = []

/** What was looked at last, newest first. Kept in this browser only. */
export function recentAccounts(): readonly AccountRoute[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    // Whatever else may be in there is left out.
    memory = (Array.isArray(stored) ? stored : [])
      .flatMap(entry => (typeof entry === 'string' ? (readRoute(entry) ?? []) : []))
      .slice(0, most)
  } catch {
    // Storage may be forbidden: then this lasts as long as the page is open.
  }
  return memory
}

/** Puts an account first. */
export function rememberAccount(account: AccountRoute): void {
  const same = ({ chainId, address }: AccountRoute) =>
    chainId === account.chainId && address.toLowerCase() === account.address.toLowerCase()
  keep([account, ...recentAccounts().filter(each => !same(each))].slice(0, most))
}

/** Forgets all of them. */
export function forgetAccounts(): void {
  keep([])
}

function keep(accounts: readonly AccountRoute[]): void {
  memory = accounts
  try {
    localStorage.setItem(
      key,
      JSON.stringify(accounts.map(({ chainId, address }) => `#/${chainId}/${address}`))
    )
  } catch {
    // As above.
  }
}
