import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

const folder = 'packages/server/test'
/** The files that may have tests on hardhat. Those among their tests have its name in theirs. */
const onHardhat = readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.test.ts'))
  .map(file => `${folder}/${file}`)
  .filter(file =>
    /hardhat|testClients|chaosNodes|chaosPlaces/i.test(
      readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8')
    )
  )

/** Tests with what is installed apart, in `.ci/apart`: `npm run test:apart`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [
      {
        extends: true,
        test: {
          name: 'apart',
          include: [...onHardhat, 'packages/client/test/runtimes/*.workerd.test.ts']
        }
      }
    ],
    testNamePattern: /hardhat|workerd/,
    env: { TEST_HARDHAT: 'on' }
  }
})
