import { describe, expect, it } from 'vitest'
import { loadConfig, parseConfig } from './config.ts'
import { unknownVariables } from './environment.ts'

/** What Kubernetes puts into every pod beside services of these names, and Docker beside linked containers. */
function serviceLinks(service: string): Record<string, string> {
  return {
    [`${service}_SERVICE_HOST`]: '10.0.0.11',
    [`${service}_SERVICE_PORT`]: '8080',
    [`${service}_SERVICE_PORT_HTTP`]: '8080',
    [`${service}_PORT`]: 'tcp://10.0.0.11:8080',
    [`${service}_PORT_8080_TCP`]: 'tcp://10.0.0.11:8080',
    [`${service}_PORT_8080_TCP_PROTO`]: 'tcp',
    [`${service}_PORT_8080_TCP_PORT`]: '8080',
    [`${service}_PORT_8080_TCP_ADDR`]: '10.0.0.11'
  }
}
const links = {
  ...serviceLinks('CHAIN_DATA'),
  ...serviceLinks('CHAIN_DATA_EVM'),
  ...serviceLinks('CHAIN_DATA_SOLANA_101'),
  ...serviceLinks('CHAIN_DATA_STORE')
}
const own = { CHAIN_DATA_PROJECT: 'demo:key', CHAIN_DATA_EVM_1: 'https://node.example' }

describe('variables that an orchestrator sets for services of the same name', () => {
  it('set nothing', async () => {
    const config = await loadConfig(undefined, { ...links, ...own })
    expect(config.listen.port).toBe(8080)
    expect(config.chains.solana).toEqual([])
    expect(config).toEqual(await loadConfig(undefined, own))
  })

  it('do not hide those that are meant', async () => {
    const config = await loadConfig(undefined, { ...links, ...own, CHAIN_DATA_PORT: '80' })
    expect(config.listen.port).toBe(80)
    await expect(loadConfig(undefined, { ...own, CHAIN_DATA_PORT: 'http' })).rejects.toThrow(/"http"/)
    await expect(loadConfig(undefined, { ...own, CHAIN_DATA_EVM_main: 'http://x' })).rejects.toThrow(
      /_EVM_main/
    )
  })
})

it('variables that nothing reads are known by their names, those of others left out', () => {
  const misspelt = { CHAIN_DATA_STOER: 'sqlite:/data', CHAIN_DATA_TRUSTED_PROXY: 'loopback' }
  const read = { CHAIN_DATA_HOST: 'x', CHAIN_DATA_DAS_101: 'x', CHAIN_DATA_STORE: 'x' }
  const others = { PATH: '/bin', CHAIN_DATABASE: 'x', CHAIN_DATA_EMPTY: '' }
  expect(unknownVariables({ ...links, ...own, ...read, ...misspelt, ...others })).toEqual(
    Object.keys(misspelt)
  )
})

it('a project id that was written with its key behind it is shown without the key', () => {
  const projects = [{ projectId: 'demo:top-secret', serverKey: 'x' }]
  const parse = () => parseConfig({ projects, chains: { evm: [{ chainId: 1, rpcUrls: ['http://x'] }] } })
  expect(parse).toThrow(/^projects\[0\]\.projectId is "demo:…"; expected user name/)
  expect(parse).not.toThrow(/top-secret/)
})
