import { createClient as createAxiosClient } from '@chain-data/client'
import { createClient as createFetchClient } from '@chain-data/client/fetch'
import { type MatrixContext, runScenario, scenarios } from '../matrix/scenarios.ts'

/** `createClient` of both entries. */
export const entries: Record<string, MatrixContext['createClient']> = {
  axios: options => createAxiosClient(options),
  fetch: options => createFetchClient(options)
}

/**
 * Runs one scenario of the behaviour matrix in whatever runtime this was bundled for.
 *
 * @returns What did not hold; `''` when all did. Plain text, because it leaves the runtime.
 */
export async function runMatrix(entry: string, title: string, serverUrl: string): Promise<string> {
  const scenario = scenarios.find(each => each.title === title)
  const createClient = entries[entry]
  if (scenario === undefined || createClient === undefined) return `no scenario ${title} over ${entry}`
  try {
    await runScenario(scenario, { createClient, serverUrl })
    return ''
  } catch (error) {
    return error instanceof Error || typeof error === 'object'
      ? String((error as Error).stack)
      : String(error)
  }
}
