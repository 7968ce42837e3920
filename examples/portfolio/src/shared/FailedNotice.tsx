import { explainError } from './explainError.ts'
import { Notice } from './Notice.tsx'

/** Says why something could not be read, and offers to ask again. */
export function FailedNotice({
  error,
  chainId,
  onRetry
}: {
  error: unknown
  chainId: number
  onRetry: () => void
}) {
  const { title, text } = explainError(error, chainId)
  return (
    <Notice state="failed" title={title} action={{ label: 'Try again', onPress: onRetry }}>
      {text}
    </Notice>
  )
}

/** For `refetchInterval`: what may pass is asked for again sooner or later, what cannot is not. */
export function retryEvery(error: unknown, chainId: number, pollMs: number): number | false {
  if (error === null || error === undefined) return pollMs
  return explainError(error, chainId).passes ? Math.min(pollMs, 3000) : false
}
