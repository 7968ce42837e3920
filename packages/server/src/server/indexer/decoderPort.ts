import type { MessagePort } from 'node:worker_threads'
import type { AskForNonces } from '../../evm/blocks/createAuthorizationReader.ts'
import {
  type BlockAnswer,
  createBlockDecoder,
  type DecodeBlock,
  type DecodedBlock,
  type DecoderSettings
} from '../../evm/blocks/createBlockDecoder.ts'
import { UpstreamError } from '../../nodes/upstreams/upstreamError.ts'

/** Messages to a thread that decodes. `id` numbers the blocks of one port. */
type ToDecoder =
  /** The first message. */
  | { readonly settings: DecoderSettings }
  | { readonly id: number; readonly answer: BlockAnswer }
  | { readonly id: number; readonly nonces: Awaited<ReturnType<AskForNonces>> }

/** Messages of that thread. */
type FromDecoder =
  | { readonly id: number; readonly asked: Parameters<AskForNonces> }
  | { readonly id: number; readonly decoded: DecodedBlock }
  /** It was not decoded. */
  | { readonly id: number; readonly left: BlockAnswer }

/** A thread that decodes blocks, as one chain uses it. */
export interface DecoderConnection {
  /** Blocks that it has and has not returned. */
  load(): number
  /** The thread has ended. */
  isGone(): boolean
  /**
   * Hands an answer over, which is empty here afterwards, and returns the block.
   * @returns the answer, where the thread leaves the block to the caller.
   * @throws {UpstreamError} the thread has ended meanwhile: the block is to be fetched again.
   */
  decode(answer: BlockAnswer, askForNonces: AskForNonces): Promise<DecodedBlock | BlockAnswer>
  close(): void
}

interface Waiting {
  readonly askForNonces: AskForNonces
  resolve(decoded: DecodedBlock | BlockAnswer): void
  reject(error: unknown): void
}

/** @param port - the other end of the one that `createDecoder` serves. */
export function connectDecoder(port: MessagePort, settings: DecoderSettings): DecoderConnection {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let isGone = false
  const tell = (message: ToDecoder, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, transfer)

  port.on('message', (message: FromDecoder) => {
    const { id } = message
    const one = waiting.get(id)
    if (one === undefined) return
    if ('asked' in message) {
      void one.askForNonces(...message.asked).then(nonces => tell({ id, nonces }))
      return
    }
    waiting.delete(id)
    one.resolve('decoded' in message ? message.decoded : message.left)
  })
  port.on('close', () => {
    isGone = true
    for (const { reject } of waiting.values()) reject(threadGone())
    waiting.clear()
  })
  tell({ settings })

  return {
    load: () => waiting.size,
    isGone: () => isGone,
    decode(answer, askForNonces) {
      if (isGone) return Promise.reject(threadGone())
      const id = ++lastId
      const body = answer.body.map(ownBytes)
      return new Promise((resolve, reject) => {
        waiting.set(id, { askForNonces, resolve, reject })
        tell({ id, answer: { ...answer, body } }, buffersOf(body))
      })
    },
    close: () => port.close()
  }
}

/** The node is not to blame: it is asked again at once. */
function threadGone(): UpstreamError {
  return new UpstreamError('the thread that decodes blocks has ended; expected it to run', 'busy')
}

/** Copies a small part of a buffer: others may share it, which must not lose it. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return 2 * bytes.byteLength > bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

function buffersOf(body: readonly Uint8Array[]): ArrayBuffer[] {
  return body.map(({ buffer }) => buffer as ArrayBuffer)
}

/** The decoder of one thread: the chains that it serves take turns, block by block. */
export interface Decoder {
  /** Serves one more chain, until the other end of the port is closed. */
  serve(port: MessagePort): void
}

interface ServedChain {
  readonly port: MessagePort
  decode: DecodeBlock
  readonly waiting: { readonly id: number; readonly answer: BlockAnswer }[]
  readonly asked: Map<number, (nonces: Awaited<ReturnType<AskForNonces>>) => void>
}

export function createDecoder(): Decoder {
  /** Chains with waiting blocks, the next one first. */
  const queue: ServedChain[] = []
  let isBusy = false

  async function decodeNext(): Promise<void> {
    const chain = queue.shift()
    isBusy = chain !== undefined
    if (chain === undefined) return
    const next = chain.waiting.shift()
    if (chain.waiting.length > 0) queue.push(chain)
    // A block that waits for nonces holds up no other one.
    if (next !== undefined) void answer(chain, next)
    // Messages of the other chains come in between two blocks.
    setImmediate(decodeNext)
  }

  async function answer(chain: ServedChain, { id, answer }: ServedChain['waiting'][number]): Promise<void> {
    const tell = (message: FromDecoder, transfer: readonly ArrayBuffer[] = []) =>
      chain.port.postMessage(message, transfer)
    const decoded = await chain.decode(answer, (...asked) => {
      tell({ id, asked })
      return new Promise(resolve => chain.asked.set(id, resolve))
    })
    if (decoded !== undefined) tell({ id, decoded })
    else tell({ id, left: answer }, buffersOf(answer.body))
  }

  return {
    serve(port) {
      const chain: ServedChain = { port, decode: async () => undefined, waiting: [], asked: new Map() }
      port.on('message', (message: ToDecoder) => {
        if ('settings' in message) {
          chain.decode = createBlockDecoder(message.settings)
        } else if ('answer' in message) {
          chain.waiting.push(message)
          if (chain.waiting.length === 1) queue.push(chain)
          if (!isBusy) {
            isBusy = true
            setImmediate(decodeNext)
          }
        } else {
          chain.asked.get(message.id)?.(message.nonces)
          chain.asked.delete(message.id)
        }
      })
      port.on('close', () => {
        chain.waiting.length = 0
      })
    }
  }
}
