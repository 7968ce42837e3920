import type { AbortSignalLike } from '../AbortSignalLike.ts'
import type { ChainOptional } from '../Chain.ts'
import { createKey } from './createKey.ts'
import { chainOf } from './createQuery.ts'
import type { QueryArgumentsOf } from './QueryOptions.ts'

interface PageArguments {
  readonly limit?: number | undefined
  readonly before?: string | undefined
}

const defaultLimit = 100

/**
 * Builds the options of an infinite query over the pages of a history.
 *
 * @param key - Tells it from the queries of other methods.
 * @param readPage - Reads the page that `before` of the call begins.
 * @param nextOf - The `before` of the page after this one; absent after the last. `limit` is the length of a page.
 */
export function createPagesQuery<Arguments extends PageArguments, Page>(
  client: Parameters<typeof chainOf>[0],
  args: QueryArgumentsOf<Arguments, ChainOptional> | symbol,
  {
    key,
    readPage,
    nextOf
  }: {
    readonly key: Parameters<typeof createKey>[0]
    readonly readPage: (call: Arguments & ChainOptional) => Promise<Page>
    readonly nextOf: (page: Page, limit: number, read: readonly unknown[]) => string | undefined
  }
) {
  // The token is a symbol; to compare it, TanStack Query would have to be loaded here.
  const isSkipped = typeof args === 'symbol'
  const {
    scope,
    timeoutMs,
    retries,
    before: start,
    chainId = chainOf(client),
    ...rest
  } = isSkipped ? ({} as QueryArgumentsOf<Arguments, ChainOptional>) : args
  const limit = rest.limit ?? defaultLimit
  const asked = { ...rest, chainId, limit }
  return {
    queryKey: createKey(key, isSkipped ? {} : { ...asked, before: start, scope }),
    queryFn: isSkipped
      ? args
      : ({ signal, pageParam: before }: { signal: AbortSignalLike; pageParam: string | undefined }) =>
          readPage({ ...asked, before, timeoutMs, retries, signal } as never),
    initialPageParam: start,
    getNextPageParam: (page: Page, _allPages: unknown, _last: unknown, read: readonly unknown[]) =>
      nextOf(page, limit, read),
    retry: false
  }
}
