import type { EvmNode } from '../../../nodes/evm/nodeCall.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'

/** A request has made as many calls to nodes as it may. */
export class CallBoundError extends Error {}

const boundReached = 'the request has made as many calls to nodes as it may'

/** The calls to nodes that one request may still make. */
export class CallBudget {
  #left: number
  #isOver = false

  constructor(maxCalls: number) {
    this.#left = maxCalls
  }

  /** @throws {CallBoundError} so many are not left: none of them may be made. */
  spend(calls: number): void {
    if (calls > this.#left) {
      this.#isOver = true
      throw new CallBoundError(boundReached)
    }
    this.#left -= calls
  }

  /** @throws {CallBoundError} a call was refused. */
  check(): void {
    if (this.#isOver) throw new CallBoundError(boundReached)
  }

  /** Returns how many are left. */
  get left(): number {
    return this.#left
  }
}

/**
 * Reports each call to the nodes of a chain before it is sent. What is sent again because a node did not answer is not reported.
 *
 * @param spend - throws to keep the calls from being sent.
 */
export function meterCalls(rpc: EvmUpstreams, spend: (calls: number) => void): EvmUpstreams {
  const metered = (node: EvmNode): EvmNode => ({
    ...node,
    async request(call, onSize) {
      spend(1)
      return node.request(call, onSize)
    },
    async batch(calls, known, onSize) {
      spend(calls.filter((_, position) => known?.[position] === undefined).length)
      return node.batch(calls, known, onSize)
    },
    within: (timeoutMs, ask) => node.within(timeoutMs, inner => ask(metered(inner)))
  })
  return {
    ...rpc,
    async request(call, options) {
      spend(1)
      return rpc.request(call, options)
    },
    async batch(calls, options) {
      spend(calls.length)
      return rpc.batch(calls, options)
    },
    onOneNode: (what, work, options) => rpc.onOneNode(what, node => work(metered(node)), options)
  }
}
