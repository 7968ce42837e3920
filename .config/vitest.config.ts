import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Sources are run as they are: every package resolves to its `src` through this condition. */
const sourceCondition = '@chain-data/source'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions: [sourceCondition] },
  ssr: { resolve: { conditions: [sourceCondition] } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'examples/*/**/*.test.ts'],
    execArgv: [`--conditions=${sourceCondition}`],
    // A flaky test is a bug: nothing is retried.
    retry: 0,
    reporters: ['default', fileURLToPath(new URL('closingCounts.ts', import.meta.url))],
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
