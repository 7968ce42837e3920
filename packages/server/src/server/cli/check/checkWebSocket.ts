import { setTimeout as sleep } from 'node:timers/promises'
import type { Finding } from '../../../model/finding.ts'
import { createWebSocketHeads } from '../../../nodes/evm/webSocketHeads.ts'
import { type Logger, silentLogger } from '../../../platform/logger.ts'

const lookEveryMs = 20

/**
 * Whether a WebSocket takes a subscription to new blocks, as the indexer will ask for one.
 *
 * @throws {ConfigError} the URL cannot be used.
 */
export async function checkWebSocket(options: {
  readonly url: string
  readonly chainId: number
  readonly timeoutMs: number
}): Promise<Finding> {
  const { url, chainId, timeoutMs } = options
  const check = 'websocket'
  let problem: string | undefined
  const logger: Logger = {
    ...silentLogger,
    warn: (_, fields) => {
      problem ??= fields?.problem?.replace(/^wsUrls\[\d+\]: /, '')
    }
  }
  const startedMs = performance.now()
  const heads = createWebSocketHeads({ chainId, wsUrls: [url], logger })
  try {
    for (;;) {
      if (heads.figures()[0]?.connected) {
        const tookMs = Math.round(performance.now() - startedMs)
        return { check, state: 'ok', found: `subscribed to new blocks in ${tookMs} ms` }
      }
      const isLate = performance.now() - startedMs > timeoutMs
      if (problem !== undefined || isLate) {
        const advice = 'new blocks are found by asking, every pollIntervalMs; check the URL, or take it out'
        return { check, state: 'error', found: `no subscription (${problem ?? 'no answer in time'})`, advice }
      }
      await sleep(lookEveryMs)
    }
  } finally {
    heads.close()
  }
}
