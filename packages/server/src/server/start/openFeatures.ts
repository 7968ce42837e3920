import { ConfigError } from '../../platform/errors.ts'
import type { Feature, FeatureParts, OpenServer, Services } from '../feature/Feature.ts'

/** The features of a server, opened. */
export interface OpenFeatures {
  readonly parts: readonly FeatureParts[]
  readonly services: Partial<Services>
  /** Closes them, the last one first. */
  close(): Promise<void>
}

/**
 * Opens features in their order: each is given what those before it provide.
 * @throws {ConfigError} two have the same name, or provide the same. Whatever one throws; those before it are closed then.
 */
export async function openFeatures(
  features: readonly Feature[],
  server: Omit<OpenServer, 'services'>
): Promise<OpenFeatures> {
  const parts: FeatureParts[] = []
  const close = async () => {
    for (const part of parts.splice(0).reverse()) await part.close?.()
  }
  let services: Partial<Services> = {}
  const names = new Set<string>()
  try {
    for (const feature of features) {
      if (names.has(feature.name))
        throw new ConfigError(`features has ${feature.name} twice; expected it once`)
      names.add(feature.name)
      const part = await feature.open({ ...server, services })
      parts.push(part)
      const again = Object.keys(part.services ?? {}).find(name => name in services)
      if (again !== undefined)
        throw new ConfigError(
          `the feature ${feature.name} provides ${again}, which one before it does already`
        )
      services = { ...services, ...part.services }
    }
  } catch (error) {
    await close()
    throw error
  }
  return { parts: [...parts], services, close }
}
