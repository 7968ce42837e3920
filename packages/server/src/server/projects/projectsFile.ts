import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '@chain-data/index'
import { ConfigError } from '../../platform/errors.ts'
import { present } from '../../platform/present.ts'
import { isRecord } from '../config/isRecord.ts'
import { type Project, type ProjectInput, projectsSchema } from '../config/projectsSchema.ts'
import { parseJson } from '../config/readConfigFile.ts'
import { describeIssue } from '../config/schemaDocs.ts'
import { isKeyDigest, keyIdOf } from './keyDigest.ts'

/**
 * Reads the projects of a file that `chain-data project` keeps: `{ "projects": [...] }`, with digests only.
 *
 * @throws {ConfigError} naming the file, what is wrong in it and what was expected, never a key or a digest.
 *   `context.missing` is true where there is no such file, `context.unread` where there is one that could not be read,
 *   for want of permission or of free file handles.
 */
export async function readProjectsFile(file: string): Promise<readonly Project[]> {
  const name = `projectsFile "${file}"`
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = codeOf(error) ?? 'unknown trouble'
    throw new ConfigError(
      `${name} could not be read (${code}); expected a file made by \`chain-data project create\``,
      code === 'ENOENT' ? { missing: true } : { unread: true }
    )
  })
  const input = parseJson(text, name)
  if (!isRecord(input) || !Array.isArray(input.projects) || Object.keys(input).length !== 1) {
    throw new ConfigError(
      `${name} has another form; expected an object with "projects", a list, and nothing else`
    )
  }
  const outcome = projectsSchema.safeParse(input.projects)
  const problems = outcome.success
    ? outcome.data.flatMap(plainTextKeys)
    : outcome.error.issues.flatMap(issue =>
        describeIssue({ ...issue, path: ['projects', ...issue.path] }, input, new Map())
      )
  if (outcome.success && problems.length === 0) return outcome.data
  throw new ConfigError([...new Set(problems)].map(problem => `${name}: ${problem}`).join('\n'))
}

/** Names the keys in plain text: every reader of the file could use them. */
function plainTextKeys(project: Project, index: number): string[] {
  const paths: [string, string | null][] = [
    ['serverKey', project.serverKey],
    ...project.serverKeys.map((entry, at): [string, string] => [
      `serverKeys[${at}]`,
      typeof entry === 'string' ? entry : entry.key
    ]),
    ...project.clientKeys.map(({ key }, at): [string, string] => [`clientKeys[${at}].key`, key])
  ]
  return paths
    .filter(([, key]) => key !== null && !isKeyDigest(key))
    .map(
      ([path]) =>
        `projects[${index}].${path} is no digest; expected one made by \`chain-data project create\``
    )
}

/**
 * Replaces the file in one step, readable by its owner only (0600): a reader, and a next process,
 * finds the old projects or the new ones. The caller holds the file's lock.
 *
 * @throws the file system's error; `EPERM` where the file belongs to another user, who could not read it afterwards.
 * @remarks A file that is there keeps its owner, so that a server of another user still reads what root has changed.
 */
export async function writeProjectsFile(file: string, projects: readonly KeptProject[]): Promise<void> {
  // A link stays one.
  const target = await realpath(file).catch(() => file)
  const owner = await stat(target).catch(() => undefined)
  const temporary = `${target}.new`
  // What a killed process left behind may have other permissions.
  await rm(temporary, { force: true })
  const handle = await open(temporary, 'wx', 0o600)
  try {
    const self = await handle.stat()
    if (owner !== undefined && (owner.uid !== self.uid || owner.gid !== self.gid)) {
      await handle.chown(owner.uid, owner.gid)
    }
    await handle.writeFile(`${JSON.stringify({ projects: projects.map(fromKeptProject) }, null, 2)}\n`)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  await rename(temporary, target)
  await syncFolder(dirname(target))
}

/** Or a power cut could bring the old file back, and with it a key that was revoked. */
async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A project's own quota; calls with client keys get the usual share of it. `false`: none. */
export type ProjectRateLimit = NonNullable<Project['rateLimit']>

/** A project with its keys in one list, as `chain-data project` shows and changes it. */
export interface KeptProject {
  readonly projectId: string
  readonly keys: readonly KeptKey[]
  /** Absent: the common quota. */
  readonly rateLimit?: ProjectRateLimit
}

/** A key of a project, with the details that an operator may see. */
export interface KeptKey {
  readonly kind: 'server' | 'client'
  /** Public, 8 hex digits; absent for a key in plain text. */
  readonly id?: string
  /** The digest, or the key where a configuration has it in plain text. Never shown. */
  readonly key: string
  readonly name?: string
  /** Origins of a client key. */
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
  serverKeys = [],
  clientKeys = [],
  rateLimit
}: ProjectInput): KeptProject {
  const serverEntries = [...(serverKey == null ? [] : [serverKey]), ...serverKeys].map(entry =>
    typeof entry === 'string' ? { key: entry } : entry
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
    ...(rateLimit == null ? {} : { rateLimit })
  }
}

type StoredKey = Exclude<NonNullable<ProjectInput['serverKeys']>[number], string>

/** Writes a project as a file has it; what is absent is left out. */
export function fromKeptProject({ projectId, keys, rateLimit }: KeptProject): ProjectInput {
  const written = ({ key, name, createdAt, expiresAt }: KeptKey) => ({
    key,
    ...present({ name, createdAt, expiresAt })
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

function toKeptKey({ key, name, createdAt, expiresAt }: StoredKey): Omit<KeptKey, 'kind'> {
  const known = {
    name: name ?? undefined,
    createdAt: createdAt ?? undefined,
    expiresAt: expiresAt ?? undefined
  }
  return { key, ...present({ id: keyIdOf(key), ...known }) }
}
