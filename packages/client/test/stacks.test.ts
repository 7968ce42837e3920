import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { caught } from './support/caught.ts'
import { address, projectId, serverKey } from './support/credentials.ts'
import { transports } from './support/transports.ts'

describe.each(transports)('over %s', (_name, create) => {
  /** The error of a call to a server that never answers. */
  async function errorOfSilence(options: { signal?: AbortSignal; timeoutMs?: number }) {
    const server = createServer(() => {})
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = create({ baseUrl: url, projectId, serverKey, chainId: 1 })
    async function theCallerOfTheClient() {
      await client.getTokensAndNFTs({ address, ...options })
    }
    try {
      return { url, error: await caught(theCallerOfTheClient()) }
    } finally {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }

  test('a deadline says whom it asked and how often, and its stack reaches the caller', async () => {
    const { url, error } = await errorOfSilence({ timeoutMs: 200 })
    expect(error).toMatchObject({ code: 'TIMEOUT', method: 'getTokensAndNFTs', origin: url, attempts: 1 })
    expect(error.message).toBe(
      `getTokensAndNFTs: no complete answer from ${url} within 200 ms (attempt 1 of 3)`
    )
    expect(error.stack).toContain('theCallerOfTheClient')
  })

  test('a signal keeps its reason, and the stack reaches the caller', async () => {
    const controller = new AbortController()
    const reason = new Error('left the page')
    setTimeout(() => controller.abort(reason), 200)
    const { error } = await errorOfSilence({ signal: controller.signal })
    expect(error).toMatchObject({ code: 'ABORTED', retryable: false })
    expect(error.message).toBe('getTokensAndNFTs: aborted by its signal (attempt 1 of 3)')
    expect(error.cause).toBe(reason)
    expect(error.stack).toContain('theCallerOfTheClient')
  })

  test('a connection that fails says so of its last attempt, and the stack reaches the caller', async () => {
    const client = create({ baseUrl: 'http://127.0.0.1:1', projectId, serverKey, chainId: 1, maxDelayMs: 1 })
    async function theCallerOfTheClient() {
      await client.getTokensAndNFTs({ address })
    }
    const error = await caught(theCallerOfTheClient())
    expect(error).toMatchObject({ code: 'NETWORK', attempts: 3, origin: 'http://127.0.0.1:1' })
    expect(error.message).toMatch(/^getTokensAndNFTs: no complete answer from \S+ \(\w+, attempt 3 of 3\)$/)
    expect(error.stack).toContain('theCallerOfTheClient')
  })
})
