import { ConfigError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { toKeptProject } from '../projects/keptProject.ts'
import { readProjectsFile } from '../projects/projectsFile.ts'
import { type Finding, failure, ok, type PlacedFinding, placeFindings, warning } from './findings.ts'

const soonMs = 7 * 86_400_000
const dayMs = 86_400_000

/**
 * Whether anybody may call, from the configuration or from the projects file, and whose keys are about to end.
 *
 * @param nowMs - milliseconds since the Unix epoch.
 */
export async function checkProjects(
  { projects, projectsFile }: Config,
  nowMs = Date.now()
): Promise<readonly PlacedFinding[]> {
  const configured = projects.flatMap((project, index) =>
    placeFindings(`projects[${index}]`, endingKeys(project, nowMs))
  )
  if (projectsFile === null) {
    if (projects.length > 0) return configured
    const advice = 'add one, or name a projectsFile; a program may bring its own with verifyProject'
    return placeFindings('projects', [failure('projects', 'there is no project, so nobody may call', advice)])
  }
  try {
    const kept = await readProjectsFile(projectsFile)
    const found = `${kept.length} ${kept.length === 1 ? 'project' : 'projects'} in the file`
    const ending = kept.flatMap(project => endingKeys(project, nowMs))
    return [...configured, ...placeFindings('projectsFile', [ok('projects', found), ...ending])]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const advice = 'the server does not start without it: mend it, or make it with chain-data project create'
    return [...configured, ...placeFindings('projectsFile', [failure('projects', error.message, advice)])]
  }
}

function endingKeys(project: Config['projects'][number], nowMs: number): readonly Finding[] {
  const { projectId, keys } = toKeptProject(project)
  return keys.flatMap(({ kind, id, name, expiresAt }): readonly Finding[] => {
    const leftMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - nowMs
    if (leftMs > soonMs) return []
    const which = `a ${kind} key of "${projectId}" (${name ?? id ?? 'without a name'})`
    const found =
      leftMs <= 0 ? `${which} has ended` : `${which} ends in ${Math.ceil(leftMs / dayMs)} days or less`
    const advice =
      leftMs <= 0 ? 'take it out' : 'see that its callers have a new one: chain-data project rotate'
    return [warning('key', found, advice)]
  })
}
