import { doors } from '../matrix/doors.ts'
import { runScenario, scenarios, scenariosOf } from '../matrix/scenarios.ts'

export { doors, scenariosOf }

/**
 * Runs one scenario of the behaviour matrix in whatever runtime this was bundled for.
 *
 * @param name - Of the entry.
 * @returns What did not hold; `''` when all did. Plain text, because it leaves the runtime.
 */
export async function runMatrix(name: string, title: string, serverUrl: string): Promise<string> {
  const scenario = scenarios.find(each => each.title === title)
  const door = doors[name]
  if (scenario === undefined || door === undefined) return `no scenario ${title} of ${name}`
  try {
    await runScenario(scenario, { door, serverUrl })
    return ''
  } catch (error) {
    return error instanceof Error || typeof error === 'object'
      ? String((error as Error).stack)
      : String(error)
  }
}
