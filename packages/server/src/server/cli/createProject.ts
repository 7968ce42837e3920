import type { ProjectInput } from '../config/config.ts'
import { addKey, ProjectEditError } from '../projects/editProjects.ts'
import { fromKeptProject, type KeptKey } from '../projects/keptProject.ts'
import { createKey, digestKey, formatKeyDigest, keyIdOf } from '../projects/keyDigest.ts'
import { changeProjectsFile } from './changeProjectsFile.ts'
import { findProjects, type ProjectsPlace, requireNotConfigured } from './findProjects.ts'

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
export function keyLines({ kind, id, expiresAt }: KeptKey, secret: string): string[] {
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
export function keptLine(file: string): string {
  return `Kept in ${file} as a digest. A server with this projectsFile takes it within seconds.`
}

/** The shortest form that a configuration takes. */
function entryFor(projectId: string, made: KeptKey): ProjectInput {
  const isPlain = made.kind === 'server' && made.name === undefined && made.expiresAt === undefined
  return isPlain ? { projectId, serverKey: made.key } : fromKeptProject({ projectId, keys: [made] })
}
