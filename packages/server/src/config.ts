import { describeIssue } from './config/describeIssues.ts'
import { applyEnvironment, environmentVariables, type Sources } from './config/environment.ts'
import { readConfigFile } from './config/readConfigFile.ts'
import { type Config, configSchema } from './config/schema.ts'
import { listKeys } from './config/schemaDocs.ts'
import { ConfigError } from './platform/errors.ts'

export type { Config, ConfigInput } from './config/schema.ts'

/**
 * Checks a configuration and fills in its defaults.
 *
 * @throws {ConfigError} naming every wrong key, its value (never a key or a URL's credentials) and what was expected.
 */
export function parseConfig(input: unknown): Config {
  return parse(input, new Map())
}

/**
 * Reads a configuration as `chain-data serve` does: the file if there is one, then the environment over it.
 *
 * @param file - JSON, or a JavaScript or TypeScript module whose default export is the same object.
 * @throws {ConfigError} the file cannot be read or the configuration is wrong.
 */
export async function loadConfig(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env
): Promise<Config> {
  const fromFile = file === undefined ? {} : await readConfigFile(file)
  const { input, sources } = applyEnvironment(fromFile, environment)
  return parse(input, sources)
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

function parse(input: unknown, sources: Sources): Config {
  const outcome = configSchema.safeParse(input)
  if (outcome.success) return outcome.data
  const problems = outcome.error.issues.flatMap(issue => describeIssue(issue, input, sources))
  // Two rules that one value breaks say the same.
  throw new ConfigError([...new Set(problems)].join('\n'))
}
