import { useMemo, useSyncExternalStore } from 'react'

/** Whose account is shown. */
export interface AccountRoute {
  readonly chainId: number
  readonly address: string
}

/** The address bar as the only place that knows what is shown: links, the back button and reloads agree with it. */
export function useRoute(): AccountRoute | undefined {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return useMemo(() => readRoute(hash), [hash])
}

/** `#/31337/0x…`. */
export function accountHref({ chainId, address }: AccountRoute): string {
  return `#/${chainId}/${address}`
}

/** @returns Nothing for the start page, and for what is no account. */
export function readRoute(hash: string): AccountRoute | undefined {
  const found = /^#\/(\d{1,15})\/([0-9a-zA-Z]{1,80})$/.exec(hash)
  return found === null ? undefined : { chainId: Number(found[1]), address: found[2] ?? '' }
}

function subscribe(changed: () => void): () => void {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}
