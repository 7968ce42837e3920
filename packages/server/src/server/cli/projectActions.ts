import type { ProjectInput } from '../config/config.ts'
import { addKey, hasEnded, ProjectEditError, revokeKey, rotateKey } from '../projects/editProjects.ts'
import {
  fromKeptProject,
  type KeptKey,
  type KeptProject,
  readProjectsFile,
  toKeptProject
} from '../projects/projectsFile.ts'
import {
  changeProjectsFile,
  findProjects,
  findProjectsFile,
  makeKey,
  type ProjectsPlace,
  requireNotConfigured
} from './changeProjectsFile.ts'
import { type Column, formatTable } from './terminal.ts'

// Each action throws a ProjectEditError for what cannot be done, a ConfigError for a wrong configuration or file.

type Options<T = unknown> = ProjectsPlace & { readonly json?: true } & T

/**
 * `chain-data project create`: makes a key, which is shown only this once. Its digest goes into the projects file where
 * there is one; else it is printed for the configuration.
 *
 * @param options.expires - milliseconds from now on.
 */
export async function createProject(
  projectId: string,
  options: Options<{
    readonly client?: true
    readonly origin?: readonly string[]
    readonly name?: string
    readonly expires?: number
  }>
): Promise<void> {
  const { client = false, origin: origins = [], name, expires, json } = options
  if (client !== origins.length > 0) {
    throw new ProjectEditError(
      client
        ? 'A client key has no --origin; expected the origins of the pages that may use it, such as --origin https://dapp.example'
        : 'A server key has an --origin; expected --client with it, since only client keys are bound to origins'
    )
  }
  const { configured, file } = await findProjects(options)
  const nowMs = Date.now()
  const { secret, kept } = makeKey()
  const key: KeptKey = {
    kind: client ? 'client' : 'server',
    ...(client ? { origins } : {}),
    ...(name === undefined ? {} : { name }),
    createdAt: new Date(nowMs).toISOString(),
    ...(expires === undefined ? {} : { expiresAt: new Date(nowMs + expires).toISOString() }),
    ...kept
  }
  if (file === undefined) {
    const entry = entryFor(projectId, key)
    const lines = ['For "projects" in the configuration:', JSON.stringify(entry, null, 2)]
    return printKey({ projectId, key, secret, json }, { entry }, lines)
  }
  requireNotConfigured(configured, projectId)
  await changeProjectsFile(file, projects => ({
    projects: addKey(projects, { projectId, key, nowMs }),
    result: undefined
  }))
  printKey({ projectId, key, secret, json }, { file }, [keptLine(file)])
}

/** `chain-data project list`: the projects of the configuration and of the projects file, without secrets. */
export async function listProjects({ json, ...place }: Options): Promise<void> {
  const { configured, file } = await findProjects(place)
  const fromFile = file === undefined ? [] : await readProjectsFile(file)
  const projects = [
    ...configured.map(project => listed(toKeptProject(project), 'configuration')),
    ...fromFile.map(project => listed(toKeptProject(project), 'file'))
  ]
  const rows = projects.flatMap(project => project.keys.map(key => ({ project, key })))
  print(
    json && { ...(file === undefined ? {} : { file }), projects },
    projects.length === 0 ? 'No projects.' : formatTable(columns, rows)
  )
}

/**
 * `chain-data project rotate`: makes a new key, shown only this once, beside an old one, which ends after the grace.
 *
 * @param options.key - id or name of the old key; absent where only one can be meant.
 * @param options.grace - milliseconds.
 */
export async function rotateProjectKey(
  projectId: string,
  options: Options<{ readonly key?: string; readonly grace: number }>
): Promise<void> {
  const { key: selector, grace: graceMs, json } = options
  const file = await findProjectsFile(options, projectId)
  const { secret, kept } = makeKey()
  const { old, made } = await changeProjectsFile(file, projects => {
    const result = rotateKey(projects, { projectId, selector, made: kept, nowMs: Date.now(), graceMs })
    return { projects: result.projects, result }
  })
  printKey({ projectId, key: made, secret, json }, { old: { id: old.id, expiresAt: old.expiresAt }, file }, [
    `Old key ${old.id} ends: ${old.expiresAt}`,
    keptLine(file)
  ])
}

/**
 * `chain-data project revoke`: takes a key away, or a project with all of them. What leaves a project without a usable
 * key is done with `--yes` only; nothing is asked, since often nobody is there to answer.
 *
 * @param options.key - id or name of the key; absent: all of them, and the project with them.
 */
export async function revokeProjectKey(
  projectId: string,
  options: Options<{ readonly key?: string; readonly yes?: true }>
): Promise<void> {
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
  print(
    options.json && { projectId, revoked: ids, keysLeft: left, file },
    `Revoked of project ${projectId}: ${ids.join(', ')}. Keys left: ${left}.\nA server with this projectsFile refuses them within seconds.`
  )
}

/** Prints a new key, the only time that it is shown. */
function printKey(
  made: {
    readonly projectId: string
    readonly key: KeptKey
    readonly secret: string
    readonly json: true | undefined
  },
  more: object,
  moreLines: readonly string[]
): void {
  const { projectId, secret } = made
  const { key: _digest, ...shown } = made.key
  const [name, use] =
    shown.kind === 'server'
      ? ['Server key', 'give it to the caller']
      : ['Client key', 'for the pages of its origins']
  const lines = [
    `Project ${projectId}`,
    `${name} (shown once; ${use}): ${secret}`,
    `Key id: ${shown.id}`,
    ...(shown.expiresAt === undefined ? [] : [`Ends: ${shown.expiresAt}`]),
    ...moreLines
  ]
  print(made.json && { projectId, ...shown, key: secret, ...more }, lines.join('\n'))
}

function print(json: object | undefined, text: string): void {
  process.stdout.write(`${json === undefined ? text : JSON.stringify(json)}\n`)
}

function keptLine(file: string): string {
  return `Kept in ${file} as a digest. A server with this projectsFile takes it within seconds.`
}

/** The shortest form that a configuration takes. */
function entryFor(projectId: string, made: KeptKey): ProjectInput {
  const isPlain = made.kind === 'server' && made.name === undefined && made.expiresAt === undefined
  return isPlain ? { projectId, serverKey: made.key } : fromKeptProject({ projectId, keys: [made] })
}

/** A project without what would be of use to a stranger. `ended`: past its end, so a wrong key. */
function listed(project: KeptProject, source: 'configuration' | 'file') {
  const nowMs = Date.now()
  const keys = project.keys.map(({ key: _key, ...shown }) => ({ ...shown, ended: hasEnded(shown, nowMs) }))
  return { ...project, source, keys }
}

type ListedProject = ReturnType<typeof listed>
type Row = { readonly project: ListedProject; readonly key: ListedProject['keys'][number] }

/** `-`: not known, or nothing of the kind. */
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
