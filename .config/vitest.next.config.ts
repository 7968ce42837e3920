import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The example that has a lock file of its own: `npm run test:next` installs it, checks its types and runs its tests. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [{ extends: true, test: { name: 'next', include: ['examples/next-route/*.test.ts'] } }]
  }
})
