import { hash } from 'node:crypto'
import type { Caller, ProjectRateLimit } from './Caller.ts'
import { createKey, digestKey, type KeyDigest, matchesKey, readConfiguredKey } from './keyDigest.ts'

/** One key of a project, in plain text or as a digest. */
export interface ProjectKey {
  readonly key: string
  /** ISO 8601; from then on the key is a wrong one. Absent or null: it has no end. */
  readonly expiresAt?: string | null
}

/** A project as it is configured. */
export interface ProjectKeys {
  readonly projectId: string
  readonly serverKey?: string | null
  readonly serverKeys?: readonly (string | ProjectKey)[]
  readonly clientKeys?: readonly (ProjectKey & { readonly origins: readonly string[] })[]
  /** Absent or null: the common quota. */
  readonly rateLimit?: ProjectRateLimit | null
}

/** All keys that are in force at one time. It never changes; a reload makes another one. */
export interface KeyRing {
  /** Whether this project is here, whatever its keys. */
  has(projectId: string): boolean
  /**
   * Whose key it is.
   *
   * @returns `undefined` for unknown projects, wrong keys and keys past their end alike, after the same work.
   */
  find(projectId: string, key: string): Caller | undefined
  /** Projects and keys in it, ended ones included. */
  readonly counts: { readonly projects: number; readonly keys: number }
  /** Whether any key may be used by web pages. */
  readonly hasClientKeys: boolean
}

interface Entry {
  readonly digest: KeyDigest
  readonly expiresMs: number
  readonly caller: Caller
}

/**
 * Digests the keys of these projects, whose ids must differ.
 *
 * @param now - milliseconds since the Unix epoch, for keys that have an end.
 * @remarks The first look-up costs as many HMACs as the project with the most keys has, for every project and for none;
 *   a key that was right before costs one hash.
 */
export function createKeyRing(projects: readonly ProjectKeys[], now: () => number = Date.now): KeyRing {
  const known = new Map(projects.map(project => [project.projectId, entriesOf(project)]))
  const keyCounts = [...known.values()].map(({ length }) => length)
  const mostKeys = Math.max(1, ...keyCounts)
  // What nobody knows matches nobody's key; it only takes the time that real keys would have taken.
  const decoy = digestKey(createKey())
  // Under a secret of this process, so that what is remembered is of no use elsewhere. One entry for each key at most.
  const secret = createKey()
  const seen = new Map<string, Entry>()

  function compare(projectId: string, key: string): Entry | undefined {
    const entries = known.get(projectId) ?? []
    const nowMs = now()
    let found: Entry | undefined
    // Every key is tried, so that the time does not tell which one it was.
    for (let index = 0; index < mostKeys; index++) {
      const entry = entries[index]
      const isThis = matchesKey(entry?.digest ?? decoy, key)
      if (isThis && entry !== undefined && nowMs < entry.expiresMs) found = entry
    }
    return found
  }

  return {
    has: projectId => known.has(projectId),
    find(projectId, key) {
      // With the length, so that no two credentials have the same text.
      const name = hash('sha256', `${secret}${projectId.length}:${projectId}${key}`, 'base64')
      const before = seen.get(name)
      if (before !== undefined && now() < before.expiresMs) return before.caller
      const found = compare(projectId, key)
      if (found !== undefined) seen.set(name, found)
      return found?.caller
    },
    counts: { projects: known.size, keys: keyCounts.reduce((sum, count) => sum + count, 0) },
    hasClientKeys: projects.some(({ clientKeys = [] }) => clientKeys.length > 0)
  }
}

function entriesOf({
  projectId,
  serverKey,
  serverKeys = [],
  clientKeys = [],
  rateLimit
}: ProjectKeys): Entry[] {
  const quota = rateLimit === undefined || rateLimit === null ? {} : { rateLimit }
  const servers = [...(serverKey == null ? [] : [serverKey]), ...serverKeys].map(configured => ({
    ...(typeof configured === 'string' ? { key: configured } : configured),
    caller: { projectId, kind: 'server', ...quota } as const
  }))
  const clients = clientKeys.map(configured => ({
    ...configured,
    caller: { projectId, kind: 'client', origins: configured.origins, ...quota } as const
  }))
  return [...servers, ...clients].map(({ key, expiresAt, caller }) => ({
    digest: readConfiguredKey(key),
    expiresMs: expiresAt == null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    caller
  }))
}
