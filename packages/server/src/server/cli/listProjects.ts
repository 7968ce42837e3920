import { hasEnded } from '../projects/editProjects.ts'
import { type KeptProject, toKeptProject } from '../projects/keptProject.ts'
import { readProjectsFile } from '../projects/projectsFile.ts'
import { findProjects, type ProjectsPlace } from './findProjects.ts'
import { formatProjects } from './formatProjects.ts'

/** A project as `chain-data project list` shows it: nothing that would be of use to a stranger. */
export interface ListedProject extends Omit<KeptProject, 'keys'> {
  readonly source: 'configuration' | 'file'
  readonly keys: readonly (Omit<KeptProject['keys'][number], 'key'> & {
    /** Past its end, so a wrong key. */
    readonly ended: boolean
  })[]
}

/**
 * `chain-data project list`: the projects of the configuration and of the projects file, with their keys but without
 * secrets.
 *
 * @throws {ConfigError} the configuration or the file is wrong, or the file is not there.
 */
export async function listProjects({
  json,
  ...place
}: ProjectsPlace & { readonly json?: true }): Promise<void> {
  const { configured, file } = await findProjects(place)
  const fromFile = file === undefined ? [] : await readProjectsFile(file)
  const projects = [
    ...configured.map(project => listed(toKeptProject(project), 'configuration')),
    ...fromFile.map(project => listed(toKeptProject(project), 'file'))
  ]
  process.stdout.write(
    json
      ? `${JSON.stringify({ ...(file === undefined ? {} : { file }), projects })}\n`
      : `${projects.length === 0 ? 'No projects.' : formatProjects(projects)}\n`
  )
}

function listed(project: KeptProject, source: ListedProject['source']): ListedProject {
  const nowMs = Date.now()
  const keys = project.keys.map(({ key: _key, ...shown }) => ({ ...shown, ended: hasEnded(shown, nowMs) }))
  return { ...project, source, keys }
}
