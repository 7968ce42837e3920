/**
 * The clients of EVM nodes that tests run on. hardhat is large and is installed apart: only `npm run test:apart`, which runs
 * the tests that have its name in theirs, and `npm run test:chaos` have it.
 */
export const testClients: readonly ('anvil' | 'hardhat')[] =
  process.env.TEST_HARDHAT === 'on' ? ['anvil', 'hardhat'] : ['anvil']

/** The client, for tests of nothing else; empty where it is not installed. */
export const onlyHardhat = testClients.filter(name => name === 'hardhat')
