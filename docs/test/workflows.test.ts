import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const folder = `${repository}/.github/workflows`
const { scripts } = JSON.parse(readFileSync(`${repository}/package.json`, 'utf8')) as {
  scripts: Record<string, string>
}

interface Step {
  readonly run?: string
  readonly uses?: string
  readonly env?: Record<string, string>
}

function stepsOf(file: string): readonly Step[] {
  const { jobs } = parse(readFileSync(`${folder}/${file}`, 'utf8')) as {
    jobs: Record<string, { steps: Step[] }>
  }
  return Object.values(jobs).flatMap(({ steps }) => steps)
}

describe.each(readdirSync(folder))('the workflow %s', file => {
  const steps = stepsOf(file)

  it('runs what there is, and actions of GitHub alone', () => {
    expect(steps.length).toBeGreaterThan(2)
    for (const { run, uses } of steps) {
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/)
      if (run === undefined) continue
      const [program = '', ...args] = run.split(' ')
      if (program === 'npm') expect(args[0] === 'run' && args[1]! in scripts, run).toBe(true)
      else if (program !== 'git') accessSync(`${repository}/${program}`, constants.X_OK)
    }
  })
})

it('the whole check is what decides, on each Node that is promised, and before a release', () => {
  expect(stepsOf('ci.yml').map(({ run }) => run)).toContain('.ci/run')
  expect(readFileSync(`${folder}/ci.yml`, 'utf8')).toContain('node: [20, 22, 24]')
  const release = stepsOf('release.yml').flatMap(({ run }) => run ?? [])
  const publish = release.findIndex(run => run.endsWith('changeset -- publish'))
  for (const run of ['.ci/run', 'npm run build', '.ci/writeSbom sbom', 'npm run release:prepare']) {
    expect(release.slice(0, publish)).toContain(run)
  }
  expect(stepsOf('release.yml').find(({ run }) => run === release[publish])?.env).toEqual({
    NPM_CONFIG_PROVENANCE: 'true'
  })
})
