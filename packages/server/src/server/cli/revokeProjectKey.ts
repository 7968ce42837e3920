import { ProjectEditError, revokeKey } from '../projects/editProjects.ts'
import { changeProjectsFile } from './changeProjectsFile.ts'
import { findProjectsFile, type ProjectsPlace } from './findProjects.ts'

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
