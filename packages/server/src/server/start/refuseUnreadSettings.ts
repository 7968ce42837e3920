import { ConfigError } from '../../platform/errors.ts'
import type { Feature } from '../feature/Feature.ts'

/**
 * Refuses a configuration that sets what nothing in the server reads.
 * @param features - those of the server.
 * @param known - all whose keys a configuration may have.
 * @throws {ConfigError} naming each such key and the feature that reads it.
 */
export function refuseUnreadSettings(
  input: unknown,
  features: readonly Feature[],
  known: readonly Feature[]
): void {
  const names = new Set(features.map(({ name }) => name))
  const problems = known
    .filter(({ name }) => !names.has(name))
    .flatMap(({ name, settings = [] }) => {
      return settings
        .filter(path => has(input, path.split('.')))
        .map(
          path =>
            `${path} is set, and only the feature ${name} reads it; expected the feature in the list, or no such key`
        )
    })
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
}

function has(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined
  if (Array.isArray(value)) return value.some(entry => has(entry, [key, ...rest]))
  return typeof value === 'object' && value !== null && has((value as Record<string, unknown>)[key], rest)
}
