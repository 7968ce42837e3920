import { defineConfig } from 'vitest/config'
import { hasCitus } from '../packages/index/test/support/startCitus.ts'
import base from './vitest.config.ts'

const isThere = hasCitus()
if (!isThere) {
  process.stderr.write(
    'Skipped: the PostgreSQL on the path has no library of Citus (lib/citus.so). docs/citus.md says what is needed.\n'
  )
}
/** The contract of every store, the suite of kills, and what only Citus does. */
const include = [
  'packages/index/src/postgres/{store,openWriter}.test.ts',
  'packages/server/test/chaos/kills.test.ts',
  'packages/server/test/citus/*.test.ts'
]

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: [{ extends: true, test: { name: 'citus', include: isThere ? include : [] } }],
    env: { TEST_STORE: 'citus' },
    passWithNoTests: true,
    // Each file starts three database servers.
    fileParallelism: false
  }
})
