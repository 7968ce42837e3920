/** A program of its own: ganache on a free port, because its command refuses port 0. Argument: the phrase of its accounts. */
import ganache from 'ganache'

const server = ganache.server({
  chain: { chainId: 31337, time: new Date('2023-11-14T22:13:20.000Z') },
  wallet: { mnemonic: process.argv[2] ?? '', defaultBalance: 10_000 },
  logging: { quiet: true }
})
await server.listen(0, '127.0.0.1')
process.stdout.write(`listening on 127.0.0.1:${server.address().port}\n`)
