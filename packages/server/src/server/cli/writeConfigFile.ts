import { open, rename, rm } from 'node:fs/promises'
import { codeOf } from '../../platform/errors.ts'
import { checkListen } from '../check/checkSettings.ts'
import { type ConfigInput, parseConfig } from '../config/config.ts'
import { CommandError } from './reporting.ts'

const usualPort = 8080
const portsToTry = 20

/**
 * Chooses the port that a new service listens on.
 *
 * @param wanted - taken as it is, with a warning where another program has it; absent: 8080 or the next free one.
 */
export async function choosePort(wanted: number | undefined, print: (text: string) => void): Promise<number> {
  const first = wanted ?? usualPort
  if (await isFree(first)) return first
  if (wanted !== undefined) {
    print(`Port ${wanted} is taken by another program now: end that before the start.\n`)
    return wanted
  }
  for (let port = first + 1; port < first + portsToTry; port++) {
    if (!(await isFree(port))) continue
    print(`Port ${first} is taken by another program, so the service will listen on ${port}.\n`)
    return port
  }
  return first
}

async function isFree(port: number): Promise<boolean> {
  // Only the address is looked at.
  const chains = { solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1'] }] }
  const config = parseConfig({ listen: { port }, chains }, { mayLackProjects: true })
  const findings = await checkListen(config, { kind: 'not running', note: '' })
  return findings.every(({ state }) => state !== 'error')
}

/**
 * Writes a configuration in one step, readable by its owner only (0600): URLs and projects may hold keys.
 *
 * @throws {CommandError} it cannot be written.
 */
export async function writeConfigFile(file: string, input: ConfigInput): Promise<void> {
  const temporary = `${file}.new`
  try {
    await rm(temporary, { force: true })
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(input, null, 2)}\n`)
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    throw new CommandError(
      `${file} could not be written (${codeOf(error) ?? 'unknown trouble'}); expected a folder that is there and can be written`
    )
  }
}
