import { loadConfig } from '../config.ts'
import { ConfigError } from '../platform/errors.ts'
import { createLogger } from '../platform/logger.ts'
import { closeOnSignal } from '../platform/shutdown.ts'
import { createServer } from '../server.ts'

const configErrorExit = 2
const failureExit = 1
const closeDeadlineMs = 9_500

/** `chain-data serve`: runs until SIGTERM or SIGINT. A wrong configuration is told on standard error, exit code 2. */
export async function serve({ config: file }: { readonly config?: string }): Promise<void> {
  try {
    const config = await loadConfig(file)
    const logger = createLogger({ level: config.log.level })
    const starting = createServer(config, { logger })
    let isClosing = false
    // Before the server is there, or a signal meanwhile would leave behind what it had opened.
    closeOnSignal({
      async close() {
        isClosing = true
        const server = await starting
        await server.close()
      },
      deadlineMs: closeDeadlineMs,
      logger
    })
    const server = await starting
    if (isClosing) return
    const url = await server.listen().catch(async (error: unknown) => {
      await server.close()
      throw error
    })
    logger.info('listening', { url })
  } catch (error) {
    const isConfig = error instanceof ConfigError
    process.stderr.write(`${isConfig ? 'Configuration error:\n' : ''}${describe(error)}\n`)
    process.exit(isConfig ? configErrorExit : failureExit)
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
