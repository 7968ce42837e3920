import { createKey, digestKey, type KeyDigest, matchesKey, readConfiguredKey } from './keyDigest.ts'
import { readBasicCredentials } from './readBasicCredentials.ts'

/** A project as it is configured; keys in plain text or as digests. */
export interface ProjectKeys {
  readonly projectId: string
  readonly serverKey: string
  readonly clientKeys: readonly { readonly key: string; readonly origins: readonly string[] }[]
}

/** Who is calling. */
export interface Caller {
  readonly projectId: string
  /** Where a publishable key may be used from; absent for server keys, which may be used anywhere. */
  readonly origins?: readonly string[]
}

/**
 * Recognises callers by their `Authorization` header. Nothing of a header or a key is kept, and an unknown project
 * costs the same as a wrong key.
 *
 * @returns a function that gives `undefined` for missing, malformed and wrong credentials alike.
 */
export function createAuthenticator(
  projects: readonly ProjectKeys[]
): (authorization: string | undefined) => Caller | undefined {
  const known = new Map(projects.map(project => [project.projectId, digestProject(project)]))
  const nobody = digestProject({ projectId: '', serverKey: createKey(), clientKeys: [] })

  return authorization => {
    const credentials = readBasicCredentials(authorization)
    if (!credentials) return undefined
    const project = known.get(credentials.user) ?? nobody
    const isUser = matchesKey(project.userDigest, credentials.user)
    let caller: Caller | undefined
    // Every key is tried, so that the time does not tell which one it was.
    for (const key of project.keys) {
      if (matchesKey(key.digest, credentials.password)) caller = key.caller
    }
    return isUser ? caller : undefined
  }
}

interface DigestedProject {
  readonly userDigest: KeyDigest
  readonly keys: readonly { readonly digest: KeyDigest; readonly caller: Caller }[]
}

function digestProject({ projectId, serverKey, clientKeys }: ProjectKeys): DigestedProject {
  return {
    userDigest: digestKey(projectId),
    keys: [
      ...clientKeys.map(({ key, origins }) => ({
        digest: readConfiguredKey(key),
        caller: { projectId, origins }
      })),
      { digest: readConfiguredKey(serverKey), caller: { projectId } }
    ]
  }
}
