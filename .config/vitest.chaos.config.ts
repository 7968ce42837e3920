import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The suites that draw at random, at full size: minutes instead of seconds. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: [
      'packages/server/test/{chaos,processes,simulation}/**/*.test.ts',
      'packages/server/src/index/{sqlite,postgres}/store.test.ts'
    ],
    env: { CHAOS: 'full' },
    // What is measured must not compete with a neighbour.
    fileParallelism: false
  }
})
