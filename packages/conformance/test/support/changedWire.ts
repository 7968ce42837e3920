import type { Wire } from '../../src/wire/createWire.ts'
import type { Exchange } from '../../src/wire/Exchange.ts'
import type { Change } from './changes.ts'

/**
 * A wire that asks a service whose chains stand still once for each request, so that it can be examined many times in a
 * moment, each time with other changes of what it answers.
 */
export function rememberingWire(wire: Wire): (change: Change) => Pick<Wire, 'send'> {
  const known = new Map<string, Promise<Exchange>>()
  return change => ({
    async send(request) {
      const key = JSON.stringify(request)
      const found = known.get(key) ?? wire.send(request)
      known.set(key, found)
      const { sent, received } = await found
      return { sent, received: change(received, sent) }
    }
  })
}
