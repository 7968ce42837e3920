/** Blocks are made only when asked for, and take transactions in the order of their arrival. */
module.exports = {
  solidity: '0.8.24',
  networks: {
    hardhat: {
      chainId: 31337,
      hardfork: 'prague',
      initialDate: process.env.TEST_INITIAL_DATE,
      mining: { auto: false, interval: 0, mempool: { order: 'fifo' } }
    }
  }
}
