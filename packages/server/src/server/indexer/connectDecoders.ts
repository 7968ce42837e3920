import type { MessagePort } from 'node:worker_threads'
import type { AskForNonces } from '../../evm/blocks/createAuthorizationReader.ts'
import type { BlockAnswer, DecodedBlock, DecoderSettings } from '../../evm/blocks/createBlockDecoder.ts'
import { connectDecoder, type DecoderConnection } from './decoderPort.ts'

/** The threads that decode blocks, as the indexer of one chain uses them. */
export interface Decoders {
  /**
   * Hands an answer to the thread that has fewest of this chain's.
   * @returns the answer, where it is to be read here: no thread is connected (yet), or it left the block to the caller.
   * @throws {UpstreamError} the thread has ended meanwhile: the block is to be fetched again.
   */
  decode(answer: BlockAnswer, askForNonces: AskForNonces): Promise<DecodedBlock | BlockAnswer>
  /** Uses these threads from now on; the answer to `request`. */
  connect(ports: readonly MessagePort[]): void
  close(): void
}

/** A chain that has been level for so long needs no threads. */
const idleMs = 10_000
/** Threads that have ended are asked for anew after this time. */
const againAfterMs = 10_000

/**
 * Connects a chain to the threads that decode blocks while it catches up.
 * @param request - asks for all threads, or gives them back.
 */
export function connectDecoders(settings: DecoderSettings, request: (isWanted: boolean) => void): Decoders {
  let connections: readonly DecoderConnection[] = []
  let nextRequestMs = 0
  let idle: NodeJS.Timeout | undefined

  function release(): void {
    for (const connection of connections) connection.close()
    connections = []
    nextRequestMs = 0
    request(false)
  }

  function choose(): DecoderConnection | undefined {
    const left = connections.filter(connection => !connection.isGone())
    const [first, ...others] = left
    if (first === undefined) {
      if (performance.now() < nextRequestMs) return undefined
      nextRequestMs = performance.now() + againAfterMs
      request(true)
      return undefined
    }
    const least = others.reduce((least, each) => (each.load() < least.load() ? each : least), first)
    // Of several with the same load it is the last one's turn.
    connections = [...left.filter(each => each !== least), least]
    return least
  }

  return {
    async decode(answer, askForNonces) {
      clearTimeout(idle)
      idle = setTimeout(release, idleMs)
      return choose()?.decode(answer, askForNonces) ?? answer
    },
    connect(ports) {
      connections = ports.map(port => connectDecoder(port, settings))
    },
    close() {
      clearTimeout(idle)
      for (const connection of connections) connection.close()
      connections = []
    }
  }
}
