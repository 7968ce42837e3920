import type { Logger } from './logger.ts'

/** Shells, supervisors and `timeout` often send the same signal twice; only a later one is impatience. */
const impatientAfterMs = 1_000

/**
 * Ends the process in order when the operating system asks for it (SIGTERM, SIGINT): `close` runs once, then the
 * process exits 0. Another signal a second later, or `close` taking longer than `deadlineMs`, exits 1 at once.
 */
export function closeOnSignal(options: {
  readonly close: () => Promise<void>
  readonly deadlineMs: number
  readonly logger: Logger
}): void {
  const { close, deadlineMs, logger } = options
  let closingSinceMs: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (closingSinceMs !== undefined) {
      if (performance.now() - closingSinceMs > impatientAfterMs) process.exit(1)
      return
    }
    closingSinceMs = performance.now()
    logger.info('closing', { signal })
    const overdue = setTimeout(() => {
      logger.error('closing took too long', { waitMs: deadlineMs })
      process.exit(1)
    }, deadlineMs)
    overdue.unref()
    close().then(
      () => {
        logger.info('closed')
        process.exit(0)
      },
      error => {
        logger.error('closing failed', { error })
        process.exit(1)
      }
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
