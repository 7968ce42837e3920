import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { guardChild } from '../../../devnet/src/platform/childGuard.ts'
import { type RunningCommand, runCommand } from '../cli/runCommand.ts'

/** One server of several over a store: `chain-data serve` in a process of its own. */
export interface Member {
  readonly name: string
  readonly url: string
  /** It may become the one that writes. */
  readonly indexes: boolean
  readonly command: RunningCommand
  /** `up`: it should answer. */
  state: 'up' | 'frozen' | 'gone'
  /** How often something was done to it; a call that fails while this stays the same has no excuse. */
  disturbances: number
}

export interface Fleet {
  /** Those that are not gone. */
  members(): readonly Member[]
  /** Starts one more; it listens when this resolves. */
  add(indexes: boolean): Promise<Member>
  kill(member: Member): Promise<void>
  /** Asks it to end. @returns its exit code. */
  stop(member: Member): Promise<number | null>
  freeze(member: Member): void
  thaw(member: Member): void
  /** Something was done to all of them at once. */
  disturb(): void
  /** Kills whoever is left. */
  end(): Promise<void>
}

/** Credentials that every server of a fleet takes. */
export const credentials = { projectId: 'demo', serverKey: 'demo-server-key' }

/**
 * Servers over one store and one node, none at first.
 * @param store - the setting of that name.
 * @param settings - further ones.
 */
export async function startFleet(
  store: string,
  chain: Readonly<Record<string, unknown>>,
  settings: Readonly<Record<string, unknown>> = {}
): Promise<Fleet> {
  const folder = await temporaryFolder()
  const all: Member[] = []
  let started = 0
  const members = () => all.filter(({ state }) => state !== 'gone')

  async function add(indexes: boolean): Promise<Member> {
    const name = `server ${++started}`
    const file = join(folder.path, `${name}.json`)
    const config = {
      ...{ store, indexing: indexes, projects: [credentials], chains: { evm: [chain] } },
      listen: { port: 0, drainMs: 0 },
      // A busy machine must not look like a server that cannot answer.
      ...{ rateLimit: false, overload: false },
      ...settings
    }
    await writeFile(file, JSON.stringify(config))
    const command = runCommand(['serve', '--config', file])
    guardChild(command.child)
    const line = await eventually(
      `${name} listens`,
      () => {
        const { exitCode, signalCode } = command.child
        if (exitCode !== null || signalCode !== null) {
          throw new Error(`${name} ended: ${command.stdout()} ${command.stderr()}`)
        }
        return command.logLines().find(({ msg }) => msg === 'listening')
      },
      60_000
    ).catch((error: Error) => {
      throw new Error(`${error.message}; it said: ${command.stdout()} ${command.stderr()}`)
    })
    const member: Member = { name, url: String(line.url), indexes, command, state: 'up', disturbances: 0 }
    all.push(member)
    return member
  }

  async function signalEnd(member: Member, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    member.state = 'gone'
    member.disturbances++
    member.command.child.kill(signal)
    return member.command.ended
  }

  return {
    members,
    add,
    async kill(member) {
      await signalEnd(member, 'SIGKILL')
    },
    stop: member => signalEnd(member, 'SIGTERM'),
    freeze(member) {
      member.state = 'frozen'
      member.disturbances++
      member.command.child.kill('SIGSTOP')
    },
    thaw(member) {
      member.state = 'up'
      member.disturbances++
      member.command.child.kill('SIGCONT')
    },
    disturb() {
      for (const member of members()) member.disturbances++
    },
    async end() {
      await Promise.all(members().map(member => signalEnd(member, 'SIGKILL')))
      await folder.remove()
    }
  }
}
