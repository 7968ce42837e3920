import { useState } from 'react'

/**
 * The error of a query that is asked again and again, kept while it is being asked: TanStack Query forgets it with every
 * new attempt, and the page would flicker between what went wrong and nothing.
 */
export function useSteadyError(query: {
  readonly error: Error | null
  readonly isPending: boolean
}): Error | null {
  const { error, isPending } = query
  const [last, setLast] = useState<Error | null>(null)
  const steady = error ?? (isPending ? last : null)
  // While rendering, as React allows for what follows from the last render.
  if (steady !== last) setLast(steady)
  return steady
}
