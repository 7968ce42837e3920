import { loadProjects, type Project } from '../config/config.ts'
import { ProjectEditError } from '../projects/editProjects.ts'

/** Where a command finds projects. */
export interface ProjectsPlace {
  /** `--file`. */
  readonly file?: string
  /** `--config`. */
  readonly config?: string
}

/**
 * The projects of the configuration, and the path of the projects file: `--file`, else what the environment or the
 * configuration says.
 *
 * @throws {ConfigError} the configuration is wrong.
 */
export async function findProjects({ file, config }: ProjectsPlace): Promise<{
  readonly configured: readonly Project[]
  readonly file: string | undefined
}> {
  const { projects, projectsFile } = await loadProjects(config)
  return { configured: projects, file: file ?? projectsFile }
}

/**
 * The same for a command that changes a project of the file.
 *
 * @throws {ProjectEditError} no file is named, or the project is in the configuration.
 */
export async function findProjectsFile(place: ProjectsPlace, projectId: string): Promise<string> {
  const { configured, file } = await findProjects(place)
  requireNotConfigured(configured, projectId)
  if (file !== undefined) return file
  throw new ProjectEditError(
    'No projects file is named; expected --file, or projectsFile in the configuration given by --config'
  )
}

/** @throws {ProjectEditError} the project is in the configuration, which no command changes. */
export function requireNotConfigured(configured: readonly Project[], projectId: string): void {
  if (!configured.some(project => project.projectId === projectId)) return
  throw new ProjectEditError(
    `Project "${projectId}" is in the configuration, which this command does not change; expected one of the projects file. ` +
      'Change the configuration and send the server a SIGHUP.'
  )
}
