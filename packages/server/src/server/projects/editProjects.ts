import { ChainDataError } from '@chain-data/index'
import { mostKeys } from '../config/projectsSchema.ts'
import type { KeptKey, KeptProject } from './projectsFile.ts'

/** A change that cannot be made: no such project or key, more than one, or too many. */
export class ProjectEditError extends ChainDataError {
  readonly retryable = false
}

/**
 * Adds a key to a project, which is made where it is missing. Keys past their end are left out.
 *
 * @throws {ProjectEditError} the project has a key of this name, or 100 of this kind.
 */
export function addKey(
  projects: readonly KeptProject[],
  { projectId, key, nowMs }: { readonly projectId: string; readonly key: KeptKey; readonly nowMs: number }
): readonly KeptProject[] {
  const project = projects.find(one => one.projectId === projectId) ?? { projectId, keys: [] }
  const keys = project.keys.filter(one => !hasEnded(one, nowMs))
  if (key.name !== undefined && keys.some(({ name }) => name === key.name)) {
    throw new ProjectEditError(`Project "${projectId}" has a key named "${key.name}"; expected another name`)
  }
  return withKeys(projects, project, requireRoom(projectId, [...keys, key]))
}

/**
 * Gives a project a new key beside an old one, which ends after the grace; with no grace it is gone at once. The new one
 * takes over kind, name and origins. Keys past their end are left out.
 *
 * @param options.selector - id or name of the old key; absent: the only server key without an end, or else the only key.
 * @param options.made - digest and id of the new key.
 * @throws {ProjectEditError} there is no such project or key, or not exactly one.
 */
export function rotateKey(
  projects: readonly KeptProject[],
  options: {
    readonly projectId: string
    readonly selector: string | undefined
    readonly made: Pick<KeptKey, 'id' | 'key'>
    readonly nowMs: number
    readonly graceMs: number
  }
): { readonly projects: readonly KeptProject[]; readonly old: KeptKey; readonly made: KeptKey } {
  const { projectId, selector, nowMs, graceMs } = options
  const project = requireProject(projects, projectId)
  // After a rotation two keys have the same name: the one without an end is meant.
  const lasting = project.keys.filter(({ expiresAt }) => expiresAt === undefined)
  const isNamed = lasting.some(({ name }) => name === selector)
  const found =
    selector === undefined
      ? theOnlyKey(project)
      : findKey(isNamed ? { projectId, keys: lasting } : project, selector)
  const graceEnds = new Date(nowMs + graceMs).toISOString()
  // An end that comes sooner stays.
  const endsSooner = found.expiresAt !== undefined && Date.parse(found.expiresAt) <= nowMs + graceMs
  const old = endsSooner ? found : { ...found, expiresAt: graceEnds }
  const { id: _id, key: _key, createdAt: _createdAt, expiresAt: _expiresAt, ...kept } = found
  const made = { ...kept, ...options.made, createdAt: new Date(nowMs).toISOString() }
  const keys = project.keys.map(key => (key === found ? old : key)).filter(key => !hasEnded(key, nowMs))
  return { projects: withKeys(projects, project, requireRoom(projectId, [...keys, made])), old, made }
}

/**
 * Takes away one key of a project, or all of them and the project with them.
 *
 * @param options.selector - id or name of the key; absent: all.
 * @returns the keys that are gone, and how many usable ones the project has left.
 * @throws {ProjectEditError} there is no such project or key.
 */
export function revokeKey(
  projects: readonly KeptProject[],
  options: { readonly projectId: string; readonly selector: string | undefined; readonly nowMs: number }
): {
  readonly projects: readonly KeptProject[]
  readonly revoked: readonly KeptKey[]
  readonly left: number
} {
  const { projectId, selector, nowMs } = options
  const project = requireProject(projects, projectId)
  const revoked = selector === undefined ? project.keys : [findKey(project, selector)]
  const keys = project.keys.filter(key => !revoked.includes(key))
  const left = keys.filter(key => !hasEnded(key, nowMs)).length
  return { projects: withKeys(projects, project, keys), revoked, left }
}

/** Returns whether a key is past its end. */
export function hasEnded({ expiresAt }: Pick<KeptKey, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs
}

function withKeys(
  projects: readonly KeptProject[],
  project: KeptProject,
  keys: readonly KeptKey[]
): readonly KeptProject[] {
  const others = projects.filter(({ projectId }) => projectId !== project.projectId)
  return keys.length === 0 ? others : [...others, { ...project, keys }].sort(byProjectId)
}

/** By code unit, so that the file is the same on every machine. */
function byProjectId(one: KeptProject, other: KeptProject): number {
  return one.projectId < other.projectId ? -1 : one.projectId > other.projectId ? 1 : 0
}

function requireRoom(projectId: string, keys: readonly KeptKey[]): readonly KeptKey[] {
  for (const kind of ['server', 'client']) {
    if (keys.filter(key => key.kind === kind).length > mostKeys) {
      throw new ProjectEditError(
        `Project "${projectId}" has ${mostKeys} ${kind} keys; expected fewer. Revoke one first.`
      )
    }
  }
  return keys
}

function requireProject(projects: readonly KeptProject[], projectId: string): KeptProject {
  const project = projects.find(one => one.projectId === projectId)
  if (project === undefined) {
    throw new ProjectEditError(
      `Project "${projectId}" is not in the projects file; expected one that \`chain-data project list\` shows`
    )
  }
  return project
}

function findKey({ projectId, keys }: KeptProject, selector: string): KeptKey {
  const byId = keys.filter(({ id }) => id === selector)
  const [found, ...more] = byId.length > 0 ? byId : keys.filter(({ name }) => name === selector)
  if (found !== undefined && more.length === 0) return found
  throw new ProjectEditError(
    `Project "${projectId}" has ${found === undefined ? 'no key' : 'several keys'} "${selector.slice(0, 64)}"; ` +
      `expected the id of one of them: ${idsOf(keys)}`
  )
}

function theOnlyKey({ projectId, keys }: KeptProject): KeptKey {
  const lasting = keys.filter(({ expiresAt }) => expiresAt === undefined)
  const servers = lasting.filter(({ kind }) => kind === 'server')
  const [only, ...more] = servers.length > 0 ? servers : lasting.length > 0 ? lasting : keys
  if (only !== undefined && more.length === 0) return only
  throw new ProjectEditError(
    `Project "${projectId}" has several keys that could be meant; expected --key with one of: ${idsOf(keys)}`
  )
}

function idsOf(keys: readonly KeptKey[]): string {
  return keys
    .map(({ id = 'no id', kind, name }) => `${id} (${kind}${name === undefined ? '' : `, ${name}`})`)
    .join(', ')
}
