import { rotateKey } from '../projects/editProjects.ts'
import { createKey, digestKey, formatKeyDigest, keyIdOf } from '../projects/keyDigest.ts'
import { changeProjectsFile } from './changeProjectsFile.ts'
import { keptLine, keyLines } from './createProject.ts'
import { findProjectsFile, type ProjectsPlace } from './findProjects.ts'

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
