import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Prints one plain closing line, `N passed, N failed, N skipped`, that any log reader understands. */
export default class ClosingCounts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[outcome(test)] += 1
      // A file that does not load has no tests, yet it is a failure.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed += 1
    }
    counts.failed += unhandledErrors.length
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  }
}

function outcome(test: TestCase): 'passed' | 'failed' | 'skipped' {
  const { state } = test.result()
  return state === 'pending' ? 'skipped' : state
}
