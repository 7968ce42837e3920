import type { SkipToken } from '@tanstack/query-core'
import type { ChainOptional } from '../Chain.ts'
import type { CallObject } from '../sendCall.ts'
import { createKey } from './createKey.ts'
import type { ChainDataKey, ClientWith } from './QueryOptions.ts'

type Send = (call: object) => Promise<unknown>

/** The chain of a client, of this package or of viem. */
export function chainOf({ chainId, chain }: ClientWith<never, ChainOptional>): number | undefined {
  return chainId ?? chain?.id
}

/** The options of a query that calls one method of a client. Untyped: the generated functions give the types. */
export function createQuery(name: Exclude<ChainDataKey[1], 'chainId'>, client: unknown, given: unknown) {
  const args = given as (CallObject & { readonly scope?: string }) | SkipToken
  // The token is a symbol; to compare it, TanStack Query would have to be loaded here.
  if (typeof args === 'symbol') return { queryKey: createKey(name, {}), queryFn: args, retry: false }
  const { scope, timeoutMs, retries, chainId = chainOf(client as object), ...asked } = args
  return {
    queryKey: createKey(name, { ...asked, chainId, scope }),
    queryFn: ({ signal }: { readonly signal: object }) =>
      (client as Record<string, Send>)[name]?.({ ...asked, chainId, timeoutMs, retries, signal }),
    retry: false
  }
}
