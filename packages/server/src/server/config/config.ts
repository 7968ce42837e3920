import { existsSync } from 'node:fs'
import type { z } from 'zod'
import { ConfigError } from '../../platform/errors.ts'
import { applyPresets, type Config } from './applyPresets.ts'
import { applyEnvironment, environmentVariables, type Sources, unknownVariables } from './environment.ts'
import { isRecord } from './isRecord.ts'
import { type Project, projectsSchema } from './projectsSchema.ts'
import { readConfigFile } from './readConfigFile.ts'
import { configSchema } from './schema.ts'
import { describeIssue, listKeys } from './schemaDocs.ts'

export type { Config } from './applyPresets.ts'
export type { Project, ProjectInput } from './projectsSchema.ts'
export type { ConfigInput } from './schema.ts'

/**
 * Checks a configuration and fills in its defaults and the presets of its chains.
 *
 * @param options.mayLackProjects - somebody else knows who may call.
 * @throws {ConfigError} naming every wrong key, its value (never a key or a URL's credentials) and what was expected.
 */
export function parseConfig(input: unknown, options: { readonly mayLackProjects?: boolean } = {}): Config {
  return parse(input, new Map(), options.mayLackProjects)
}

/**
 * Checks a list of projects as `projects` of a configuration is checked.
 *
 * @throws {ConfigError} as `parseConfig` does.
 */
export function parseProjects(projects: unknown): readonly Project[] {
  return parseProjectsOf({ projects }, new Map())
}

/** The configuration that `chain-data init` writes, and that is read in the working directory where no other is named. */
export const usualConfigFile = 'chain-data.json'

/**
 * Reads a configuration as `chain-data serve` does: the file if there is one, then the environment over it.
 *
 * @param file - JSON, or a JavaScript or TypeScript module whose default export is the same object; absent:
 *   `chain-data.json` of the working directory, where it is there.
 * @throws {ConfigError} the file cannot be read or the configuration is wrong.
 */
export async function loadConfig(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env
): Promise<Config> {
  const found = file ?? findUsualFile()
  const fromFile = found === undefined ? {} : await readConfigFile(found)
  const { input, sources } = applyEnvironment(fromFile, environment)
  if (found === undefined && isRecord(input) && input.chains === undefined) {
    throw new ConfigError(
      `There is no ${usualConfigFile} in this folder, and the environment names no chain; expected one made by \`chain-data init\`, or another file by --config`
    )
  }
  return parse(input, sources)
}

function findUsualFile(): string | undefined {
  return existsSync(usualConfigFile) ? usualConfigFile : undefined
}

/**
 * Reads only what a configuration says of projects, as `chain-data project` and a reload need it: the rest may be wrong.
 *
 * @param file - as of `loadConfig`.
 *
 * @throws {ConfigError} the file cannot be read, or what it says of projects is wrong.
 */
export async function loadProjects(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env
): Promise<{ readonly projects: readonly Project[]; readonly projectsFile: string | undefined }> {
  const found = file ?? findUsualFile()
  const fromFile = found === undefined ? {} : await readConfigFile(found, String(Date.now()))
  const { input, sources } = applyEnvironment(fromFile, environment)
  const projects = parseProjectsOf(input, sources)
  const projectsFile = isRecord(input) ? (input.projectsFile ?? undefined) : undefined
  if (projectsFile === undefined || (typeof projectsFile === 'string' && projectsFile !== '')) {
    return { projects, projectsFile }
  }
  throw refusal([{ code: 'custom', path: ['projectsFile'], message: '' }], input, sources)
}

/** Finds variables that begin as ours do and that nothing reads, such as misspelt ones. */
export function findUnknownVariables(): readonly string[] {
  return unknownVariables(process.env)
}

/** Every key with its meaning and default, and the environment variables, as text for `--help`. */
export function describeConfig(): string {
  const keys = listKeys(configSchema, '')
  const width = Math.max(...keys.map(({ path }) => path.length))
  const lines = keys.map(({ path, description, fallback }) => {
    const suffix = fallback === undefined ? '' : ` [default: ${JSON.stringify(fallback)}]`
    return `  ${path.padEnd(width)}  ${description}${suffix}`
  })
  const variables = environmentVariables.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`)
  return [
    'Configuration keys:',
    ...lines,
    '',
    'Environment variables (each one wins over the file):',
    ...variables
  ].join('\n')
}

function parse(input: unknown, sources: Sources, mayLackProjects = false): Config {
  const outcome = configSchema.safeParse(input)
  const issues: z.core.$ZodIssue[] = outcome.success ? [] : [...outcome.error.issues]
  if (!mayLackProjects && nobodyMayCall(input)) {
    issues.push({ code: 'custom', path: ['projects'], message: '' })
  }
  if (outcome.success && issues.length === 0) return applyPresets(outcome.data)
  throw refusal(issues, input, sources)
}

function parseProjectsOf(input: unknown, sources: Sources): readonly Project[] {
  const outcome = projectsSchema.safeParse(isRecord(input) ? (input.projects ?? []) : [])
  if (outcome.success) return outcome.data
  const issues = outcome.error.issues.map(issue => ({ ...issue, path: ['projects', ...issue.path] }))
  throw refusal(issues, input, sources)
}

function refusal(issues: readonly z.core.$ZodIssue[], input: unknown, sources: Sources): ConfigError {
  const problems = issues.flatMap(issue => describeIssue(issue, input, sources))
  // Two rules that one value breaks say the same.
  return new ConfigError([...new Set(problems)].join('\n'))
}

/** Tells whether no project is named; the schema refuses what is no configuration at all. */
function nobodyMayCall(input: unknown): boolean {
  if (!isRecord(input) || (input.projectsFile ?? null) !== null) return false
  return input.projects === undefined || (Array.isArray(input.projects) && input.projects.length === 0)
}
