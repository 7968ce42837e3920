import type { HealthReport } from '../../src/server/http/operatorPages.ts'
import type { Fleet, Member } from './startFleet.ts'

/** @returns the server that says that it indexes; absent while none does, or none can be asked. */
export async function leaderOf(fleet: Fleet): Promise<Member | undefined> {
  for (const member of fleet.members()) {
    if (member.state !== 'up' || !member.indexes) continue
    const health = await healthOf(member)
    if (health !== undefined && health.waiting === undefined && health.phase !== 'starting') return member
  }
  return undefined
}

/** What a server says of its one chain; absent when it does not answer. */
export async function healthOf({ url }: Member): Promise<HealthReport['chains'][number] | undefined> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) })
    return ((await response.json()) as HealthReport).chains[0]
  } catch {
    return undefined
  }
}
