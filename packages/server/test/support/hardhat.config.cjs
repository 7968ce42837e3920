/** Blocks are made only when asked for, and take transactions in the order of their arrival. */
module.exports = {
  solidity: '0.8.24',
  networks: {
    hardhat: {
      chainId: 31337,
      hardfork: 'prague',
      initialDate: '2023-11-14T22:13:20.000Z',
      mining: { auto: false, interval: 0, mempool: { order: 'fifo' } }
    }
  }
}
