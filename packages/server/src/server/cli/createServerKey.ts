import { addKey } from '../projects/editProjects.ts'
import { createKey, digestKey, formatKeyDigest, keyIdOf } from '../projects/keyDigest.ts'
import type { KeptKey } from '../projects/projectsFile.ts'
import { changeProjectsFile } from './changeProjectsFile.ts'

/**
 * Makes a server key of a project and keeps its digest in a projects file, which is made where it is missing.
 *
 * @returns the key, which is nowhere else.
 */
export async function createServerKey(projectId: string, file: string): Promise<string> {
  const nowMs = Date.now()
  const { secret, kept } = makeKey()
  const key: KeptKey = { kind: 'server', createdAt: new Date(nowMs).toISOString(), ...kept }
  await changeProjectsFile(file, projects => ({
    projects: addKey(projects, { projectId, key, nowMs }),
    result: undefined
  }))
  return secret
}

/** A new key, and what is kept of it. */
export function makeKey(): { readonly secret: string; readonly kept: Pick<KeptKey, 'key' | 'id'> } {
  const secret = createKey()
  const digest = formatKeyDigest(digestKey(secret))
  const id = keyIdOf(digest)
  return { secret, kept: { ...(id === undefined ? {} : { id }), key: digest } }
}
