import { rm, writeFile } from 'node:fs/promises'
import { codeOf } from '@chain-data/index'
import { tryListen } from '../check/checkSettings.ts'
import type { ConfigInput } from '../config/config.ts'
import { CommandError } from './reporting.ts'

const usualPort = 8080
const portsToTry = 20

/** Chooses the port that a new service listens on: what is wanted, or else 8080 or the next free one. */
export async function choosePort(wanted: number | undefined, print: (text: string) => void): Promise<number> {
  if (wanted !== undefined) return wanted
  for (let port = usualPort; port < usualPort + portsToTry; port++) {
    if ((await tryListen('127.0.0.1', port)) !== undefined) continue
    if (port > usualPort) print(`Port ${usualPort} is taken, so the service will listen on ${port}.\n`)
    return port
  }
  return usualPort
}

/**
 * Writes a configuration, readable by its owner only (0600): URLs and projects may hold keys.
 *
 * @throws {CommandError} it cannot be written.
 */
export async function writeConfigFile(file: string, input: ConfigInput): Promise<void> {
  try {
    // A file that is there would keep its mode.
    await rm(file, { force: true })
    await writeFile(file, `${JSON.stringify(input, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw new CommandError(
      `${file} could not be written (${codeOf(error) ?? 'unknown trouble'}); expected a folder that is there and can be written`
    )
  }
}
