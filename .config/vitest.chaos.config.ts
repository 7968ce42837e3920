import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The suites that draw at random, at full size: minutes instead of seconds. */
const include = [
  'packages/server/test/{chaos,processes,simulation,simulator}/**/*.test.ts',
  'packages/server/test/live/plans.test.ts',
  'packages/server/test/deepHistory/**/*.test.ts',
  'packages/index/src/{sqlite,postgres}/store.test.ts'
]

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [{ extends: true, test: { name: 'chaos', include } }],
    env: { CHAOS: 'full', TEST_HARDHAT: 'on' },
    // What is measured must not compete with a neighbour.
    fileParallelism: false
  }
})
