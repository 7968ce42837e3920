import { createKey, digestKey, formatKeyDigest } from '../projects/keyDigest.ts'

/** `chain-data project create`: prints a key, which is shown only this once, and what the configuration keeps of it. */
export function createProject(projectId: string): void {
  const serverKey = createKey()
  const entry = { projectId, serverKey: formatKeyDigest(digestKey(serverKey)) }
  process.stdout.write(
    [
      `Project ${projectId}`,
      `Server key (shown once; give it to the caller): ${serverKey}`,
      'For "projects" in the configuration:',
      JSON.stringify(entry, null, 2),
      ''
    ].join('\n')
  )
}
