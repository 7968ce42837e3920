import type { ProjectInput } from '../config/config.ts'
import { addKey, hasEnded, ProjectEditError, revokeKey, rotateKey } from '../projects/editProjects.ts'
import { fromKeptProject, type KeptKey, type KeptProject, toKeptProject } from '../projects/keptProject.ts'
import { createKey, digestKey, formatKeyDigest, keyIdOf } from '../projects/keyDigest.ts'
import { readProjectsFile } from '../projects/projectsFile.ts'
import {
  changeProjectsFile,
  findProjects,
  findProjectsFile,
  type ProjectsPlace,
  requireNotConfigured
} from './changeProjectsFile.ts'
import { type Column, formatTable } from './terminal.ts'

/** What `chain-data project create` may be told. */
export interface CreateOptions extends ProjectsPlace {
  readonly client?: true
  readonly origin?: readonly string[]
  readonly name?: string
  /** Milliseconds from now on. */
  readonly expires?: number
  readonly json?: true
}

/**
 * `chain-data project create`: makes a key, which is shown only this once. Its digest goes into the projects file where
 * there is one; else it is printed for the configuration.
 *
 * @throws {ProjectEditError} the options contradict each other, or the project cannot have this key.
 * @throws {ConfigError} the configuration or the file is wrong.
 */
export async function createProject(projectId: string, options: CreateOptions): Promise<void> {
  const { client = false, origin: origins = [], name, expires, json = false } = options
  if (client !== origins.length > 0) {
    throw new ProjectEditError(
      client
        ? 'A client key has no --origin; expected the origins of the pages that may use it, such as --origin https://dapp.example'
        : 'A server key has an --origin; expected --client with it, since only client keys are bound to origins'
    )
  }
  const { configured, file } = await findProjects(options)
  const nowMs = Date.now()
  const secret = createKey()
  const made = madeKey(formatKeyDigest(digestKey(secret)), {
    kind: client ? 'client' : 'server',
    ...(client ? { origins } : {}),
    ...(name === undefined ? {} : { name }),
    createdAt: new Date(nowMs).toISOString(),
    ...(expires === undefined ? {} : { expiresAt: new Date(nowMs + expires).toISOString() })
  })
  if (file !== undefined) {
    requireNotConfigured(configured, projectId)
    await changeProjectsFile(file, projects => ({
      projects: addKey(projects, { projectId, key: made, nowMs }),
      result: undefined
    }))
  }
  const entry = file === undefined ? entryFor(projectId, made) : undefined
  const { key: _digest, ...shown } = made
  process.stdout.write(
    json
      ? `${JSON.stringify({ projectId, ...shown, key: secret, ...(file === undefined ? { entry } : { file }) })}\n`
      : [
          `Project ${projectId}`,
          ...keyLines(made, secret),
          ...(file === undefined
            ? ['For "projects" in the configuration:', JSON.stringify(entry, null, 2)]
            : [keptLine(file)]),
          ''
        ].join('\n')
  )
}

/** A key as it is kept, with the id that its digest has. */
function madeKey(digest: string, details: Omit<KeptKey, 'id' | 'key'>): KeptKey {
  const id = keyIdOf(digest)
  return { ...details, ...(id === undefined ? {} : { id }), key: digest }
}

/** What is said of a new key; the only time that it is shown. */
function keyLines({ kind, id, expiresAt }: KeptKey, secret: string): string[] {
  const [name, use] =
    kind === 'server'
      ? ['Server key', 'give it to the caller']
      : ['Client key', 'for the pages of its origins']
  return [
    `${name} (shown once; ${use}): ${secret}`,
    `Key id: ${id}`,
    ...(expiresAt === undefined ? [] : [`Ends: ${expiresAt}`])
  ]
}

/** Where it went. */
function keptLine(file: string): string {
  return `Kept in ${file} as a digest. A server with this projectsFile takes it within seconds.`
}

/** The shortest form that a configuration takes. */
function entryFor(projectId: string, made: KeptKey): ProjectInput {
  const isPlain = made.kind === 'server' && made.name === undefined && made.expiresAt === undefined
  return isPlain ? { projectId, serverKey: made.key } : fromKeptProject({ projectId, keys: [made] })
}

/** A project as `chain-data project list` shows it: nothing that would be of use to a stranger. */
export interface ListedProject extends Omit<KeptProject, 'keys'> {
  readonly source: 'configuration' | 'file'
  readonly keys: readonly (Omit<KeptProject['keys'][number], 'key'> & {
    /** Past its end, so a wrong key. */
    readonly ended: boolean
  })[]
}

/**
 * `chain-data project list`: the projects of the configuration and of the projects file, with their keys but without
 * secrets.
 *
 * @throws {ConfigError} the configuration or the file is wrong, or the file is not there.
 */
export async function listProjects({
  json,
  ...place
}: ProjectsPlace & { readonly json?: true }): Promise<void> {
  const { configured, file } = await findProjects(place)
  const fromFile = file === undefined ? [] : await readProjectsFile(file)
  const projects = [
    ...configured.map(project => listed(toKeptProject(project), 'configuration')),
    ...fromFile.map(project => listed(toKeptProject(project), 'file'))
  ]
  process.stdout.write(
    json
      ? `${JSON.stringify({ ...(file === undefined ? {} : { file }), projects })}\n`
      : `${projects.length === 0 ? 'No projects.' : formatProjects(projects)}\n`
  )
}

function listed(project: KeptProject, source: ListedProject['source']): ListedProject {
  const nowMs = Date.now()
  const keys = project.keys.map(({ key: _key, ...shown }) => ({ ...shown, ended: hasEnded(shown, nowMs) }))
  return { ...project, source, keys }
}

interface Row {
  readonly project: ListedProject
  readonly key: ListedProject['keys'][number]
}

const columns: readonly Column<Row>[] = [
  ['PROJECT', ({ project }) => project.projectId],
  ['KEY', ({ key }) => key.id ?? 'plain text'],
  ['KIND', ({ key }) => key.kind],
  ['NAME', ({ key }) => key.name ?? '-'],
  ['CREATED', ({ key }) => key.createdAt ?? '-'],
  ['EXPIRES', ({ key: { expiresAt = '-', ended } }) => (ended ? `${expiresAt} (ended)` : expiresAt)],
  ['SOURCE', ({ project }) => project.source],
  // Last, because there may be many.
  ['ORIGINS', ({ key }) => (key.origins ?? ['-']).join(' ')]
]

/** A table with one line per key, aligned by blanks. `-`: not known, or nothing of the kind. */
export function formatProjects(projects: readonly ListedProject[]): string {
  const rows = projects.flatMap(project => project.keys.map((key): Row => ({ project, key })))
  return formatTable(columns, rows)
}

/** What `chain-data project rotate` may be told. */
export interface RotateOptions extends ProjectsPlace {
  /** Id or name of the old key. */
  readonly key?: string
  /** Milliseconds. */
  readonly grace: number
  readonly json?: true
}

/**
 * `chain-data project rotate`: makes a new key, shown only this once, beside an old one, which ends after the grace.
 *
 * @throws {ProjectEditError} no file is named, or there is not exactly one key that may be meant.
 * @throws {ConfigError} the configuration or the file is wrong.
 */
export async function rotateProjectKey(projectId: string, options: RotateOptions): Promise<void> {
  const file = await findProjectsFile(options, projectId)
  const secret = createKey()
  const digest = formatKeyDigest(digestKey(secret))
  const id = keyIdOf(digest)
  const { old, made } = await changeProjectsFile(file, projects => {
    const rotated = rotateKey(projects, {
      projectId,
      selector: options.key,
      made: { key: digest, ...(id === undefined ? {} : { id }) },
      nowMs: Date.now(),
      graceMs: options.grace
    })
    return { projects: rotated.projects, result: rotated }
  })
  const { key: _digest, ...shown } = made
  const oldEnds = { id: old.id, expiresAt: old.expiresAt }
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ projectId, ...shown, key: secret, old: oldEnds, file })}\n`
      : [
          `Project ${projectId}`,
          ...keyLines(made, secret),
          `Old key ${old.id} ends: ${old.expiresAt}`,
          keptLine(file),
          ''
        ].join('\n')
  )
}

/** What `chain-data project revoke` may be told. */
export interface RevokeOptions extends ProjectsPlace {
  /** Id or name of the key; absent: all of them, and the project with them. */
  readonly key?: string
  readonly yes?: true
  readonly json?: true
}

/**
 * `chain-data project revoke`: takes a key away, or a project with all of them. What leaves a project without a usable
 * key is done with `--yes` only; nothing is asked, since often nobody is there to answer.
 *
 * @throws {ProjectEditError} no file is named, there is no such project or key, or `--yes` is missing.
 * @throws {ConfigError} the configuration or the file is wrong.
 */
export async function revokeProjectKey(projectId: string, options: RevokeOptions): Promise<void> {
  const file = await findProjectsFile(options, projectId)
  const { revoked, left } = await changeProjectsFile(file, projects => {
    const result = revokeKey(projects, { projectId, selector: options.key, nowMs: Date.now() })
    if (result.left === 0 && options.yes !== true) {
      throw new ProjectEditError(
        `This takes the last key of project "${projectId}", whose callers would get 401; expected --yes with it`
      )
    }
    return { projects: result.projects, result }
  })
  const ids = revoked.map(({ id }) => id)
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ projectId, revoked: ids, keysLeft: left, file })}\n`
      : `Revoked of project ${projectId}: ${ids.join(', ')}. Keys left: ${left}.\nA server with this projectsFile refuses them within seconds.\n`
  )
}
