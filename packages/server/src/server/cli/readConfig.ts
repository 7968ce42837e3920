import { ConfigError } from '../../platform/errors.ts'
import { type Config, loadConfig } from '../config/config.ts'

const configErrorExit = 2

/**
 * The configuration of a command that ends by itself.
 *
 * @returns nothing when it is wrong: that was told on standard error, and the exit code is set.
 */
export async function readConfig(file: string | undefined): Promise<Config | undefined> {
  try {
    return await loadConfig(file)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`Configuration error:\n${error.message}\n`)
    process.exitCode = configErrorExit
    return undefined
  }
}
