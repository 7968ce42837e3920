import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import type { UpstreamLink } from '../upstreams/upstream.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import { isBatchRefusal, JsonRpcLink } from './JsonRpcLink.ts'
import type { EvmNode, NodeCall, NodeOutcome } from './nodeCall.ts'

/** Creates the node of one upstream for each signal, which ends its calls. */
export function createEvmNodes(link: UpstreamLink): (signal: AbortSignal) => EvmNode {
  const { name, batchSize } = link
  const rpc = new JsonRpcLink(link)

  function noteHead({ method, params }: NodeCall, value: unknown): void {
    const isHead = method === 'eth_blockNumber'
    if (!isHead && !(method === 'eth_getBlockByNumber' && params[0] === 'latest')) return
    const text = isHead ? value : (value as { number?: unknown } | null)?.number
    if (typeof text === 'string' && /^0x[0-9a-f]{1,13}$/i.test(text)) link.sawHead(Number(text))
  }

  const createNode = (signal: AbortSignal): EvmNode => ({
    name,
    position: link.position,
    async request(call, onSize) {
      const value = await link.track(signal, () => rpc.send(call, signal, onSize))
      noteHead(call, value)
      return value
    },
    async post(calls, onSize) {
      if (batchSize.current() < calls.length) return undefined
      try {
        const posted = await link.track(signal, () => rpc.postBatch(calls, signal))
        onSize?.(posted.answer.byteLength)
        return posted
      } catch (error) {
        if (error instanceof UpstreamError && isBatchRefusal(error)) return undefined
        throw error
      }
    },
    async batch(calls, known = new Array<NodeOutcome | undefined>(calls.length), onSize, posted) {
      const run = { outcomes: known, signal, onSize }
      const outcomes = await link.track(signal, () => rpc.sendAll(calls, run, posted))
      for (const [index, call] of calls.entries()) {
        const outcome = outcomes[index]
        if (outcome?.ok) noteHead(call, outcome.value)
      }
      return outcomes
    },
    attempt: link.capabilities.attempt,
    putAside: link.putAside,
    async within(timeoutMs, ask) {
      const scope = openAbortScope([signal])
      // No AttemptTimeout, which would count as the upstream's failure.
      const cutShort = new Error('cut short')
      scope.setDeadline(timeoutMs, () => cutShort)
      try {
        return await ask(createNode(scope.signal))
      } catch (error) {
        if (error === cutShort && !signal.aborted) return undefined
        throw error
      } finally {
        scope.end()
      }
    },
    memory: link.memory
  })
  return createNode
}
