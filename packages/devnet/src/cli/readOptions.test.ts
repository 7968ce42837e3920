import { expect, test } from 'vitest'
import { readOptions } from './readOptions.ts'

function read(args: string[], env: Record<string, string> = {}) {
  let out = ''
  let err = ''
  const options = readOptions(args, env, {
    out: text => {
      out += text
    },
    err: text => {
      err += text
    }
  })
  return { options, out, err }
}

test('without anything it is the devnet with the demo project, staying up', () => {
  expect(read([]).options).toEqual({
    ...{ once: false, seed: 1, remoteChains: [], projectId: 'demo', serverKey: 'demo-server-key' }
  })
})

test('flags and environment are read', () => {
  const { options } = read(
    ['--once', '--port', '0', '--start-block', '7', '--address', `0x${'aB'.repeat(20)}`],
    { CHAIN_DATA_EVM_1: 'https://one.example, https://two.example/key', CHAIN_DATA_PROJECT: 'me:a:b' }
  )
  expect(options).toEqual({
    ...{ once: true, port: 0, seed: 1, startBlock: 7, address: `0x${'aB'.repeat(20)}` },
    remoteChains: [{ chainId: 1, rpcUrls: ['https://one.example', 'https://two.example/key'] }],
    ...{ projectId: 'me', serverKey: 'a:b' }
  })
  expect(read(['--evm-port', '8545', '--seed', '42']).options).toMatchObject({ evmPort: 8545, seed: 42 })
})

test('help and version are printed and end with 0', () => {
  const help = read(['--help'])
  expect(help.options).toEqual({ exitCode: 0 })
  for (const flag of ['--once', '--port', '--seed', 'CHAIN_DATA_EVM_']) expect(help.out).toContain(flag)
  const version = read(['--version'])
  expect(version.options).toEqual({ exitCode: 0 })
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test.each([
  [['--port', '70000'], {}, 'port'],
  [['--seed', 'x'], {}, 'whole number'],
  [['--address', '0x12'], {}, '40 hex digits'],
  [['--no-such-flag'], {}, 'unknown option'],
  [['more'], {}, 'too many arguments'],
  [[], { CHAIN_DATA_EVM_1: 'ftp://user:secret@node' }, 'CHAIN_DATA_EVM_1'],
  [[], { CHAIN_DATA_EVM_mainnet: 'https://node/secret' }, 'CHAIN_DATA_EVM_mainnet'],
  [['--address', `0x${'ab'.repeat(20)}`], {}, '--address is for a chain given by CHAIN_DATA_EVM_<chainId>'],
  [['--start-block', '0'], {}, '--start-block is for a chain given by'],
  [['--seed', '1'], { CHAIN_DATA_EVM_1: 'https://node' }, '--seed is for the devnet'],
  [[], { CHAIN_DATA_PROJECT: 'nokey' }, 'CHAIN_DATA_PROJECT']
])('%j with %j is refused with 2 and says what was expected', (args, env, message) => {
  const { options, err } = read(args, env)
  expect(options).toEqual({ exitCode: 2 })
  expect(err).toContain(message)
  expect(err).not.toContain('secret')
})
