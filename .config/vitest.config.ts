import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import LongestFirst from './longestFirst.ts'
import { makeMemoryFolder } from './makeMemoryFolder.ts'
import { measureSlowness, patient } from './patience.ts'

/**
 * They mock modules, watch their whole process, or call every getter of Node's prototypes, which breaks its HTTP server. Each has
 * a worker of its own. All others leave nothing behind, so a worker runs one after the other with the modules that it has loaded.
 */
const alone = [
  'packages/client/src/errors.test.ts',
  'packages/client/test/msw/*.test.ts',
  'packages/client/test/{secrets,silentStream,doors/*,matrix/*,runtimes/matrix.*}.test.ts',
  'packages/server/src/server/projects/createKeyRing.test.ts',
  'packages/server/src/features/metadata/guardedFetch.test.ts',
  'packages/server/test/guard/hostileServers.test.ts'
]
const all = ['packages/*/{src,test}/**/*.test.ts', 'examples/*/**/*.test.ts', 'docs/test/**/*.test.ts']
/**
 * What these need is installed apart: `npm run test:next`, `npm run test:citus`, `npm run test:apart`. The last also runs
 * those tests of other files that are on hardhat.
 */
const exclude = [
  ...configDefaults.exclude,
  'examples/next-route/**',
  'packages/server/test/citus/**',
  'packages/client/test/runtimes/*.workerd.test.ts',
  'packages/server/test/deepHistory/plainNodes.test.ts'
]

/** Sources are run as they are: every package resolves to its `src` through this condition. */
const sourceCondition = '@chain-data/source'

/**
 * Node strips types with WebAssembly, also in the indexer's threads. V8 (Node 24.21) compiles its calls to JavaScript
 * anew once they are many, and where several threads do so it may free code twice, which ends the process
 * (`Runtime_TierUpWasmToJSWrapper`). So many calls are never reached. What is built has no such code in its threads.
 */
const wrapperFlags = ['--wasm-wrapper-tiering-budget=2147483647']

// Workers, their threads and the programs that tests start strip and compile each source once, not each time anew.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))
const memoryFolder = makeMemoryFolder()
if (memoryFolder !== undefined) process.env.TMPDIR = memoryFolder
// Measured once; workers and programs inherit it.
process.env.TEST_SLOWNESS ??= String(await measureSlowness())

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions: [sourceCondition] },
  ssr: { resolve: { conditions: [sourceCondition] } },
  test: {
    projects: [
      { extends: true, test: { name: 'alone', include: alone, exclude } },
      {
        extends: true,
        test: { name: 'together', include: all, exclude: [...exclude, ...alone], isolate: false }
      }
    ],
    execArgv: [`--conditions=${sourceCondition}`, ...wrapperFlags],
    // A flaky test is a bug: nothing is retried.
    retry: 0,
    reporters: ['default', fileURLToPath(new URL('closingCounts.ts', import.meta.url))],
    // Most files wait for nodes and processes of theirs, so a core is not kept free as by default. With one worker more, the
    // servers of some tests shed load.
    maxWorkers: Math.max(2, availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // For what hangs: a slow machine gets more time, and no test waits for a limit of its own.
    testTimeout: patient(120_000),
    hookTimeout: patient(180_000),
    expect: { poll: { timeout: patient(30_000) } }
  }
})
