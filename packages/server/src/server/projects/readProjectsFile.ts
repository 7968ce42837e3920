import { readFile } from 'node:fs/promises'
import { ConfigError } from '../../platform/errors.ts'
import { describeIssue } from '../config/describeIssues.ts'
import { isRecord } from '../config/isRecord.ts'
import { parseJson } from '../config/parseJson.ts'
import { type Project, projectsSchema } from '../config/projectsSchema.ts'
import { isKeyDigest } from './keyDigest.ts'

/**
 * The projects of a file that `chain-data project` keeps: `{ "projects": [...] }`, with digests only.
 *
 * @throws {ConfigError} naming the file, what is wrong in it and what was expected, never a key or a digest.
 *   `context.missing` is true where there is no such file, `context.unread` where there is one that could not be read,
 *   for want of permission or of free file handles.
 */
export async function readProjectsFile(file: string): Promise<readonly Project[]> {
  const name = `projectsFile "${file}"`
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown trouble'
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

/** Whoever may read the file could use such a key. */
function plainTextKeys(project: Project, index: number): string[] {
  const places: [string, string | null][] = [
    ['serverKey', project.serverKey],
    ...project.serverKeys.map((entry, at): [string, string] => [
      `serverKeys[${at}]`,
      typeof entry === 'string' ? entry : entry.key
    ]),
    ...project.clientKeys.map(({ key }, at): [string, string] => [`clientKeys[${at}].key`, key])
  ]
  return places
    .filter(([, key]) => key !== null && !isKeyDigest(key))
    .map(
      ([place]) =>
        `projects[${index}].${place} is no digest; expected one made by \`chain-data project create\``
    )
}
