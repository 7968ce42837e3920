import { afterEach } from 'vitest'
import type { ProxyOptions } from '../../src/server/proxy/index.ts'
import { request, type ServiceChanges, startService, statusHandlers } from '../http/startService.ts'
import { startProxy } from './startProxy.ts'

/** A call of the method that a service has by `statusHandlers`. */
export const call = request('svc_getSyncStatus', [])

/** What a browser says of the requests of a page to its own host. */
export const ownPage = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }

const cleanUps: (() => unknown)[] = []

/** Proxies that end with the test. */
export function useProxies() {
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })
  return { proxyTo, proxyToService, atEnd: (cleanUp: () => unknown) => cleanUps.push(cleanUp) }
}

/** A proxy before a target that the test started. */
async function proxyTo(target: string, options: Partial<ProxyOptions> = {}) {
  const host = await startProxy({ target, ...options })
  cleanUps.push(host.close)
  return host
}

/** A proxy before the real HTTP layer, around methods that the test brings. */
async function proxyToService(
  changes: ServiceChanges = { handlers: statusHandlers },
  options: Partial<ProxyOptions> = {}
) {
  const service = startService(changes)
  const listener = await service.listen()
  cleanUps.push(() => listener.close(0))
  return { service, ...(await proxyTo(listener.url, options)) }
}

/** Asks as a page of the host. */
export function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { ...ownPage, ...headers } })
}
