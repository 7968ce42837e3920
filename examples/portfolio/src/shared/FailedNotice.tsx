import type { ReadingProgress } from '@chain-data/client/history'
import { explainError, readingWords } from './explainError.ts'
import { Notice } from './Notice.tsx'
import { When } from './When.tsx'

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
  const { title, text, isReading } = explainError(error, chainId)
  if (isReading) {
    return (
      <Notice state="loading" title={title}>
        {text}
      </Notice>
    )
  }
  return (
    <Notice state="failed" title={title} action={{ label: 'Try again', onPress: onRetry }}>
      {text}
    </Notice>
  )
}

/** Says how far the service is with reading older history; it is asked again by itself. */
export function ReadingNotice({ progress }: { progress: ReadingProgress }) {
  const { title, text } = readingWords(progress)
  return (
    <Notice state="loading" title={title}>
      {text}
    </Notice>
  )
}

/** Says why what is shown could not be renewed, and since when; to be asked again by hand where that is not done anyway. */
export function StaleNotice({
  error,
  chainId,
  readAtSeconds,
  onRetry
}: {
  error: unknown
  chainId: number
  readAtSeconds: number
  onRetry: () => void
}) {
  const { title, text, passes } = explainError(error, chainId)
  const action = passes ? {} : { action: { label: 'Try again', onPress: onRetry } }
  return (
    <Notice state="stale" title={title} {...action}>
      What you see was read <When seconds={readAtSeconds} />. {text}
    </Notice>
  )
}

/** For `refetchInterval`: what may pass is asked for again sooner or later, what cannot is not. */
export function retryEvery(error: unknown, chainId: number, pollMs: number): number | false {
  if (error === null || error === undefined) return pollMs
  if (!explainError(error, chainId).passes) return false
  const { retryAfterMs = 0 } = error as { retryAfterMs?: number }
  return Math.max(Math.min(pollMs, 3000), retryAfterMs)
}
