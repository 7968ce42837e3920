import WebSocket from 'ws'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { backOffMs, jittered, pause } from '../../platform/concurrency/pause.ts'
import { ConfigError } from '../../platform/errors.ts'
import type { WebSocketFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'

/** Wakes a waiting indexer at every new block. Nothing that comes over a WebSocket is believed or kept. */
export interface WebSocketHeads {
  /**
   * Waits until a new block has been announced since the last call, at most `pauseMs`. Returns at once when `signal` is
   * aborted; never rejects.
   */
  wait(pauseMs: number, signal: AbortSignal): Promise<void>
  figures(): readonly WebSocketFigures[]
  /** Ends the connection and all attempts at one. */
  close(): void
}

export interface WebSocketHeadsOptions {
  readonly chainId: number
  /** ws or wss; one at a time is used, the next one when it fails. */
  readonly wsUrls: readonly string[]
  readonly logger?: Logger
  /** Between two pings; a socket that says nothing at all until the next one is due is given up. 15 s. */
  readonly pingMs?: number
  /** First pause after a failure; doubles up to a minute, each drawn with jitter. 500 ms. */
  readonly firstPauseMs?: number
}

const maxPauseMs = 60_000
const handshakeTimeoutMs = 10_000
/** A block header is some kilobytes. */
const maxMessageBytes = 1024 * 1024
const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })

/**
 * Subscribes to `newHeads` with `eth_subscribe`.
 * @throws {ConfigError} for a URL that is none; the message never repeats it.
 * @remarks The package `ws` and not the global WebSocket, whose parser is WebAssembly (see `httpUpstream.ts`).
 */
export function createWebSocketHeads(options: WebSocketHeadsOptions): WebSocketHeads {
  const { chainId, wsUrls, logger, pingMs = 15_000, firstPauseMs = 500 } = options
  wsUrls.forEach(requireWebSocketUrl)
  let index = 0
  let failures = 0
  let isClosed = false
  let connectedIndex: number | undefined
  let socket: WebSocket | undefined
  let pingTimer: NodeJS.Timeout | undefined
  let reconnectTimer: NodeJS.Timeout | undefined
  let isAnnounced = false
  let wake: (() => void) | undefined

  function announce(): void {
    isAnnounced = true
    wake?.()
  }

  function connect(): void {
    const url = wsUrls[index]
    if (url === undefined || isClosed) return
    const current = new WebSocket(url, {
      maxPayload: maxMessageBytes,
      handshakeTimeout: handshakeTimeoutMs,
      perMessageDeflate: false,
      followRedirects: false
    })
    socket = current
    let hasSpoken = true
    let problem = 'closed by the node'
    current.on('open', () => {
      current.send(subscribe)
      pingTimer = setInterval(() => {
        if (!hasSpoken) {
          problem = 'silent'
          current.terminate()
          return
        }
        hasSpoken = false
        current.ping()
      }, pingMs)
    })
    current.on('pong', () => {
      hasSpoken = true
    })
    current.on('message', (data: WebSocket.Data) => {
      hasSpoken = true
      const meaning = readMessage(data)
      if (meaning === 'newHead') announce()
      if (meaning === 'subscribed') {
        connectedIndex = index
        failures = 0
        logger?.debug('new blocks are announced by WebSocket', { chainId })
        // A block before the subscription was not announced.
        announce()
      }
      if (meaning === 'refused') {
        problem = 'eth_subscribe was refused'
        current.terminate()
      }
    })
    // The message may hold the URL; its code never does.
    current.on('error', error => {
      problem = 'code' in error && typeof error.code === 'string' ? error.code : 'no connection'
    })
    current.on('close', () => reconnect(problem))
  }

  function reconnect(problem: string): void {
    clearInterval(pingTimer)
    connectedIndex = undefined
    if (isClosed) return
    failures++
    const pauseMs = jittered(backOffMs({ firstMs: firstPauseMs, maxMs: maxPauseMs }, failures))
    if (Number.isInteger(Math.log2(failures))) {
      logger?.warn('no WebSocket announces new blocks; they are asked for', {
        chainId,
        problem: `wsUrls[${index}]: ${problem}`,
        attempt: failures,
        waitMs: Math.round(pauseMs)
      })
    }
    index = (index + 1) % wsUrls.length
    reconnectTimer = setTimeout(connect, pauseMs)
  }

  if (wsUrls.length > 0) connect()

  return {
    async wait(pauseMs, signal) {
      if (!isAnnounced && !signal.aborted) {
        const scope = openAbortScope([signal])
        wake = () => scope.end()
        await pause(pauseMs, scope.signal)
        scope.end()
        wake = undefined
      }
      isAnnounced = false
    },
    figures: () => wsUrls.map((_, at) => ({ chainId, position: at + 1, connected: at === connectedIndex })),
    close() {
      isClosed = true
      clearTimeout(reconnectTimer)
      clearInterval(pingTimer)
      socket?.terminate()
    }
  }
}

function readMessage(data: WebSocket.Data): 'newHead' | 'subscribed' | 'refused' | undefined {
  let message: unknown
  try {
    message = JSON.parse(String(data))
  } catch {
    return undefined
  }
  if (typeof message !== 'object' || message === null) return undefined
  if ('method' in message && message.method === 'eth_subscription') return 'newHead'
  if (!('id' in message) || message.id !== 1) return undefined
  return 'result' in message && typeof message.result === 'string' ? 'subscribed' : 'refused'
}

function requireWebSocketUrl(url: string, index: number): void {
  if (/^wss?:\/\//i.test(url) && URL.canParse(url)) return
  throw new ConfigError(`wsUrls[${index}] is not a WebSocket URL; expected ws://... or wss://...`)
}
