import type { Logger } from './logger.ts'

/**
 * Ends the process in order when the operating system asks for it (SIGTERM, SIGINT): `close` runs once, then the
 * process exits 0. A second signal, or `close` taking longer than `deadlineMs`, exits 1 at once.
 */
export function closeOnSignal(options: {
  readonly close: () => Promise<void>
  readonly deadlineMs: number
  readonly logger: Logger
}): void {
  const { close, deadlineMs, logger } = options
  let closing = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (closing) process.exit(1)
    closing = true
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
