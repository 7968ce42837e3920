import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import LongestFirst from './longestFirst.ts'
import { measureSlowness, patient } from './patience.ts'

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
// Measured once; workers and programs inherit it.
process.env.TEST_SLOWNESS ??= String(await measureSlowness())

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions: [sourceCondition] },
  ssr: { resolve: { conditions: [sourceCondition] } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'examples/*/**/*.test.ts', 'docs/test/**/*.test.ts'],
    // Installed apart: `npm run test:next`.
    exclude: [...configDefaults.exclude, 'examples/next-route/**'],
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
