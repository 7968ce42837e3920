import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest. On a fresh clone no run has measured them yet. */
const longest = [
  'packages/server/test/deepHistory/deepHistory.test.ts',
  'examples/portfolio/test/portfolio.test.ts',
  'packages/server/test/simulator/simulator.test.ts',
  'docs/test/blocks.test.ts',
  'packages/index/src/postgres/store.test.ts',
  'packages/devnet/test/road/command.test.ts',
  'packages/devnet/test/road/nodeFailures.test.ts',
  'packages/devnet/test/road/kill.test.ts',
  'packages/index/src/sqlite/store.test.ts',
  'packages/server/test/deepHistory/recorded/fromState.measures.test.ts',
  'packages/server/test/devChains/devChains.test.ts',
  'packages/server/test/chaos/faults.test.ts',
  'packages/server/test/solanaHistory/faults.test.ts',
  'packages/server/test/cli/check.test.ts',
  'packages/server/test/limits/lostFiles.test.ts',
  'packages/server/test/certificate/lostRows.test.ts',
  'packages/conformance/test/conformance.test.ts',
  'packages/server/test/solana/faults.test.ts',
  'packages/server/test/indexer/statusAgrees.test.ts',
  'packages/server/test/hostile/reorgs.test.ts',
  'packages/server/test/processes/processes.test.ts',
  'packages/server/test/evm/multicall.test.ts',
  'packages/server/test/hosting/databaseAway.test.ts',
  'packages/server/test/cli/init.test.ts',
  'packages/server/test/cli/status.test.ts',
  'packages/devnet/test/cli.test.ts',
  'packages/server/test/simulation/simulation.test.ts',
  'packages/server/test/statusPage/browser.test.ts',
  'packages/server/test/hosting/onlyAnswers.test.ts',
  'packages/server/test/hosting/instances.test.ts',
  'packages/server/test/upstreams/service.test.ts',
  'packages/server/test/blocks/presets.test.ts',
  'packages/server/test/devChains/npmStart.test.ts',
  'packages/server/test/hostile/hostileTokens.test.ts'
]

/** Runs the longest files first, so that no worker is left with one of them at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex(name => moduleId.endsWith(name))
      return place < 0 ? longest.length : place
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
