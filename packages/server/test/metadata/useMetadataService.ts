import { afterEach } from 'vitest'
import { createGuardedFetch, type GuardedFetchOptions } from '../../src/features/metadata/guardedFetch.ts'
import {
  createMetadataService,
  type MetadataServiceOptions
} from '../../src/features/metadata/metadataService.ts'
import { type TestMetadataService, withRead } from './readOne.ts'
import { type RogueHost, startRogueHost } from './startRogueHost.ts'

/** Gives the tests of one file real services over real sockets, with gateways that misbehave. */
export function useMetadataService() {
  const services: TestMetadataService[] = []
  const running: RogueHost[] = []
  afterEach(async () => {
    for (const service of services.splice(0)) service.close()
    await Promise.all(running.splice(0).map(host => host.stop()))
  })

  const over = (
    hosts: readonly RogueHost[],
    options: Partial<MetadataServiceOptions> = {},
    limits: GuardedFetchOptions['limits'] = {}
  ): TestMetadataService => {
    const allowHosts = hosts.map(({ hostPort }) => hostPort)
    const service = withRead(
      createMetadataService({
        guardedFetch: createGuardedFetch({ allowHosts, limits: { timeoutMs: 1_000, ...limits } }),
        gateways: { ipfs: hosts.map(({ url }) => url), arweave: hosts.map(({ url }) => url) },
        allowHosts,
        ...options
      })
    )
    services.push(service)
    return service
  }

  return {
    startHosts: async (count: number): Promise<readonly RogueHost[]> => {
      const hosts = await Promise.all(Array.from({ length: count }, startRogueHost))
      running.push(...hosts)
      return hosts
    },
    /** A service that may reach these hosts, all of which are its gateways in this order. */
    over
  }
}
