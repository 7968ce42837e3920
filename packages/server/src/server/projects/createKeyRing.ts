import { hash } from 'node:crypto'
import { present } from '../../platform/present.ts'
import type { ProjectInput } from '../config/projectsSchema.ts'
import { createKey, digestKey, type KeyDigest, matchesKey, readConfiguredKey } from './keyDigest.ts'
import { type ProjectRateLimit, toKeptProject } from './projectsFile.ts'

/** A caller whose credentials are right. */
export interface Caller {
  readonly projectId: string
  /** `server`: a secret key on a backend. `client`: a publishable key, which every visitor of a page has too. */
  readonly kind: 'server' | 'client'
  /** Origins from which a client key may be used; absent for server keys, which may be used anywhere. */
  readonly origins?: readonly string[]
  /** The project's own quota in place of the common one; `false`: none. Absent: the common one. */
  readonly rateLimit?: ProjectRateLimit
}

/** All keys that are in force. */
export interface KeyRing {
  /** Returns whether this project is here, whatever its keys. */
  has(projectId: string): boolean
  /**
   * Finds the caller of a key.
   *
   * @returns `undefined` for unknown projects, wrong keys and keys past their end alike, after the same work.
   */
  find(projectId: string, key: string): Caller | undefined
  /** Projects and keys in it, ended ones included. */
  counts(): { readonly projects: number; readonly keys: number }
  /** Returns whether web pages may use any key. */
  hasClientKeys(): boolean
  /** Puts the keys of these projects in force in place of all others, at once. */
  replace(projects: readonly ProjectInput[]): void
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
export function createKeyRing(projects: readonly ProjectInput[], now: () => number = Date.now): KeyRing {
  // An unknown key matches no digest; comparing this one only takes the time that real keys would have taken.
  const decoy = digestKey(createKey())
  // Under a secret of this process, so that what is remembered is of no use elsewhere.
  const secret = createKey()
  let inForce = digestAll(projects)

  function compare(projectId: string, key: string): Entry | undefined {
    const entries = inForce.known.get(projectId) ?? []
    const nowMs = now()
    let found: Entry | undefined
    // Every key is tried, so that the time does not tell which one it was.
    for (let index = 0; index < inForce.maxKeys; index++) {
      const entry = entries[index]
      const isThis = matchesKey(entry?.digest ?? decoy, key)
      if (isThis && entry !== undefined && nowMs < entry.expiresMs) found = entry
    }
    return found
  }

  return {
    has: projectId => inForce.known.has(projectId),
    find(projectId, key) {
      const { seen } = inForce
      // With the length, so that no two credentials have the same text.
      const name = hash('sha256', `${secret}${projectId.length}:${projectId}${key}`, 'base64')
      const before = seen.get(name)
      if (before !== undefined && now() < before.expiresMs) return before.caller
      const found = compare(projectId, key)
      if (found !== undefined) seen.set(name, found)
      return found?.caller
    },
    counts: () => inForce.counts,
    hasClientKeys: () => inForce.hasClientKeys,
    replace(next) {
      inForce = digestAll(next)
    }
  }
}

function digestAll(projects: readonly ProjectInput[]) {
  const known = new Map(projects.map(project => [project.projectId, entriesOf(project)]))
  const lengths = [...known.values()].map(({ length }) => length)
  return {
    known,
    maxKeys: Math.max(1, ...lengths),
    counts: { projects: known.size, keys: lengths.reduce((sum, count) => sum + count, 0) },
    hasClientKeys: projects.some(({ clientKeys = [] }) => clientKeys.length > 0),
    /** Keys that were right before, by a digest of the credentials; one for each key at most. */
    seen: new Map<string, Entry>()
  }
}

function entriesOf(project: ProjectInput): Entry[] {
  const { projectId, keys, rateLimit } = toKeptProject(project)
  return keys.map(({ kind, key, origins, expiresAt }) => ({
    digest: readConfiguredKey(key),
    expiresMs: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    caller: { projectId, kind, ...present({ origins, rateLimit }) }
  }))
}
