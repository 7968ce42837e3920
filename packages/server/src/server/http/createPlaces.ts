import type { Caller } from '../projects/Caller.ts'

/** The requests that each caller has under way. */
export interface Places {
  /**
   * Takes a place for one request.
   *
   * @param address - absent where it is not known; then no address has a part of its own.
   * @returns gives the place back, once; `undefined` when the caller has as many as it may.
   */
  take(caller: Caller, address: string | undefined): (() => void) | undefined
}

/** Parts of all requests at the same time that one may have under way. */
const parts = {
  /** The server keys of a project: also a service for one project only should get most of it. */
  server: 3 / 4,
  /** The client keys of a project, which whoever reads a page has. */
  client: 1 / 4,
  /** One address with the client keys of a project. */
  address: 1 / 20
}

/**
 * Divides the requests that may be under way at the same time, so that nobody takes them all: a quota counts how many
 * begin, and one that is sent or read slowly lasts.
 *
 * @remarks At least one each. Nothing is kept of who has none under way.
 */
export function createPlaces(requestsInFlight: number): Places {
  const taken = new Map<string, number>()
  const mayTake = (kind: keyof typeof parts) => Math.ceil(parts[kind] * requestsInFlight)

  return {
    take({ kind, projectId }, address) {
      const counted: [name: string, most: number][] = [[`${kind}:${projectId}`, mayTake(kind)]]
      if (kind === 'client' && address !== undefined) {
        counted.push([`address:${address}:${projectId}`, mayTake('address')])
      }
      if (counted.some(([name, most]) => (taken.get(name) ?? 0) >= most)) return undefined
      for (const [name] of counted) taken.set(name, (taken.get(name) ?? 0) + 1)
      return () => {
        for (const [name] of counted) {
          const left = (taken.get(name) ?? 0) - 1
          if (left > 0) taken.set(name, left)
          else taken.delete(name)
        }
      }
    }
  }
}
