import { mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The chaos suites at full size: minutes instead of seconds. */
export default mergeConfig(base, {
  test: {
    env: { CHAOS: 'full' },
    // What is measured must not compete with a neighbour.
    fileParallelism: false
  }
})
