import { closeSync, openSync } from 'node:fs'
import { ConfigError } from '../../platform/errors.ts'
import { createLogger, type Logger } from '../../platform/logger.ts'
import { type Config, loadConfig, loadProjects } from '../config/config.ts'
import { requireStrongKeys } from '../projects/requireStrongKeys.ts'
import { createServer, type Server } from '../start/createServer.ts'
import { createLineFormatter } from './formatLogLine.ts'
import { createProgressBars, type ProgressBars } from './progressBars.ts'
import { configErrorExit, wordsOf } from './reporting.ts'
import { describeListenFailure, reportUselessNodes, wordChains } from './sayAtTerminal.ts'
import type { ChainWords } from './terminal.ts'

const failureExit = 1
const closeDeadlineMs = 9_500
/** Shells, supervisors and `timeout` often send the same signal twice; only a later one is impatience. */
const impatientAfterMs = 1_000
const drawEveryMs = 250

/**
 * `chain-data serve`: runs until SIGTERM or SIGINT. A wrong configuration is told on standard error, exit code 2.
 *
 * @param onReadyToClose - called once signals close the server in good order.
 */
export async function serve(
  { config: file }: { readonly config?: string },
  { onReadyToClose }: { readonly onReadyToClose?: () => void } = {}
): Promise<void> {
  try {
    const config = await loadConfig(file)
    // Before anything is opened or indexed.
    requireStrongKeys(config.listen, config.projects)
    let statuses: Server['status'] = () => []
    const chains = wordChains(config)
    const bars = showBars(config, chains, () => statuses())
    // A person reads a terminal; what is piped is for programs.
    const isRead = process.stdout.isTTY === true && config.log.level !== 'silent'
    // Only where both are on one terminal can they tear each other.
    const write = bars?.writeLine ?? (text => void process.stdout.write(text))
    const format = createLineFormatter({
      chains,
      isColored: isRead && process.stdout.hasColors()
    })
    const logger = createLogger({
      level: config.log.level,
      ...(isRead ? { write: (line: string) => write(format(line)) } : {})
    })
    if (isRead) reportUselessNodes(config, file, text => write(`${text}\n`))
    const starting = createServer(config, { logger, ownsProcess: true })
    let isClosing = false
    // Before the server is there, or a signal meanwhile would leave behind what it had opened.
    closeOnSignal({
      async close() {
        isClosing = true
        bars?.stop()
        const server = await starting
        await server.close()
      },
      deadlineMs: config.listen.drainMs + closeDeadlineMs,
      logger
    })
    reloadOnHangup({ file, starting, logger })
    onReadyToClose?.()
    const server = await starting
    if (isClosing) return
    statuses = () => server.status()
    const url = await server.listen().catch(async (error: unknown) => {
      await server.close()
      const described = describeListenFailure(error, config.listen)
      throw described === undefined ? error : new Error(described, { cause: error })
    })
    logger.info('listening', { url })
    if (config.pages.status || config.pages.metrics) {
      logger.info('operator pages', { url: server.operatorUrl ?? url })
    }
    if (isRead) write(describeWaiting(server.status(), chains))
  } catch (error) {
    process.stderr.write(`${wordsOf(error)}\n`)
    process.exit(error instanceof ConfigError ? configErrorExit : failureExit)
  }
}

/** Shows a long catch-up on the terminal; the log has the same figures. */
function showBars(
  config: Config,
  chains: ReadonlyMap<number, ChainWords>,
  statuses: Server['status']
): ProgressBars | undefined {
  if (!process.stderr.isTTY || config.log.level === 'silent') return undefined
  const bars = createProgressBars({
    stream: process.stderr,
    statuses,
    writeBelow: line => process.stdout.write(line),
    chains
  })
  setInterval(bars.draw, drawEveryMs).unref()
  process.once('exit', bars.stop)
  return bars
}

/** Says of which chains calls are not answered yet, one line each. */
function describeWaiting(
  statuses: ReturnType<Server['status']>,
  chains: ReadonlyMap<number, ChainWords>
): string {
  return statuses
    .filter(({ backfilled }) => !backfilled)
    .map(
      ({ chainId }) =>
        `${chains.get(chainId)?.name}: its calls are answered once its newest blocks are indexed\n`
    )
    .join('')
}

/**
 * Ends the process in order when the operating system asks for it (SIGTERM, SIGINT): `close` runs once, then the
 * process exits 0. Another signal a second later, or `close` taking longer than `deadlineMs`, exits 1 at once.
 */
function closeOnSignal(options: {
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

/**
 * On SIGHUP the projects of the configuration and of the projects file are read again; the rest of the configuration is
 * not. What is wrong in them is logged, and the keys in force stay. Where the signal says that the terminal was closed,
 * it asks the process to end, as it does by default.
 *
 * @param options.file - of the configuration; absent: the environment alone.
 */
function reloadOnHangup(options: {
  readonly file: string | undefined
  readonly starting: Promise<Pick<Server, 'reloadProjects'>>
  readonly logger: Logger
}): void {
  const { file, starting, logger } = options
  // One after the other, or an older file could win.
  let last: Promise<void> = Promise.resolve()
  process.on('SIGHUP', () => {
    if (process.stdin.isTTY && !hasTerminal()) process.kill(process.pid, 'SIGTERM')
    else last = last.then(reload)
  })

  async function reload(): Promise<void> {
    try {
      const server = await starting
      const { projects } = await loadProjects(file)
      await server.reloadProjects(projects)
    } catch (error) {
      logger.error('projects not reloaded', {
        problem: error instanceof ConfigError ? error.message : 'the server did not start'
      })
    }
  }
}

/** Tells whether the terminal that the process was started from is still there. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
