import type { Project, ProjectInput } from '../config/projectsSchema.ts'
import type { ProjectRateLimit } from './createKeyRing.ts'
import { keyIdOf } from './keyDigest.ts'

/** A project with its keys in one list, as `chain-data project` shows and changes it. */
export interface KeptProject {
  readonly projectId: string
  readonly keys: readonly KeptKey[]
  /** Absent: the common quota. */
  readonly rateLimit?: ProjectRateLimit
}

/** One key of it, with what an operator may know of it. */
export interface KeptKey {
  readonly kind: 'server' | 'client'
  /** Public, 8 hex digits; absent for a key in plain text. */
  readonly id?: string
  /** The digest, or the key where a configuration has it in plain text. Never shown. */
  readonly key: string
  readonly name?: string
  /** Of client keys only. */
  readonly origins?: readonly string[]
  /** ISO 8601. */
  readonly createdAt?: string
  /** ISO 8601; from then on it is a wrong key. Absent: it has no end. */
  readonly expiresAt?: string
}

/** Collects the keys of a project from the members that a configuration may have them in. */
export function toKeptProject({
  projectId,
  serverKey,
  serverKeys,
  clientKeys,
  rateLimit
}: Project): KeptProject {
  const serverEntries = [...(serverKey === null ? [] : [serverKey]), ...serverKeys].map(entry =>
    typeof entry === 'string' ? { key: entry, name: null, createdAt: null, expiresAt: null } : entry
  )
  return {
    projectId,
    keys: [
      ...serverEntries.map(entry => ({ kind: 'server' as const, ...toKeptKey(entry) })),
      ...clientKeys.map(({ origins, ...entry }) => ({
        kind: 'client' as const,
        origins,
        ...toKeptKey(entry)
      }))
    ],
    ...(rateLimit === null ? {} : { rateLimit })
  }
}

/** The same as it is written into a file; what is absent is left out. */
export function fromKeptProject({ projectId, keys, rateLimit }: KeptProject): ProjectInput {
  const written = ({ key, name, createdAt, expiresAt }: KeptKey) => ({
    key,
    ...(name === undefined ? {} : { name }),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(expiresAt === undefined ? {} : { expiresAt })
  })
  const serverKeys = keys.filter(({ kind }) => kind === 'server').map(written)
  const clientKeys = keys
    .filter(({ kind }) => kind === 'client')
    .map(key => ({ ...written(key), origins: [...(key.origins ?? [])] }))
  return {
    projectId,
    ...(serverKeys.length === 0 ? {} : { serverKeys }),
    ...(clientKeys.length === 0 ? {} : { clientKeys }),
    ...(rateLimit === undefined ? {} : { rateLimit })
  }
}

function toKeptKey(entry: {
  readonly key: string
  readonly name: string | null
  readonly createdAt: string | null
  readonly expiresAt: string | null
}): Omit<KeptKey, 'kind'> {
  const { key, name, createdAt, expiresAt } = entry
  const id = keyIdOf(key)
  return {
    key,
    ...(id === undefined ? {} : { id }),
    ...(name === null ? {} : { name }),
    ...(createdAt === null ? {} : { createdAt }),
    ...(expiresAt === null ? {} : { expiresAt })
  }
}
