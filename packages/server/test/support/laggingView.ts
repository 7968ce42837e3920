import type { AskNode } from './chaosFaults.ts'
import type { RpcMessage } from './startFaultProxy.ts'

/** What a node that is some blocks behind would say, made from the answers of one that is not. */
export interface LaggingView {
  /** @returns the result to give, and whether it differs from the node's. */
  answer(call: RpcMessage): Promise<{ readonly result: unknown; readonly differs: boolean }>
}

type Raw = Record<string, unknown>
/** How far below its head a test node calls blocks safe and final. */
const depths: Readonly<Record<string, number>> = { latest: 0, pending: 0, safe: 32, finalized: 64 }

/** @param lag - blocks behind; the head it shows never goes down while the node's does not. */
export async function viewBehind(lag: number, ask: AskNode): Promise<LaggingView> {
  const head = Math.max(0, Number(await ask('eth_blockNumber')) - lag)
  const isAhead = (block: unknown) => Number(block) > head

  return {
    async answer({ method, params }) {
      if (method === 'eth_blockNumber') return { result: hex(head), differs: lag > 0 }
      if (method === 'eth_getBlockByNumber') {
        const depth = depths[String(params[0])]
        if (depth === undefined) {
          if (isAhead(params[0])) return { result: null, differs: true }
          return { result: await ask(method, ...params), differs: false }
        }
        return { result: await ask(method, hex(Math.max(0, head - depth)), params[1]), differs: lag > 0 }
      }
      const result = await ask(method, ...params)
      if (method === 'eth_getBlockReceipts') {
        const isNew = isAhead((result as Raw[] | null)?.[0]?.blockNumber)
        // Nodes differ in how they say it; both must be understood.
        return isNew
          ? { result: Number(params[0]) % 2 === 0 ? null : [], differs: true }
          : { result, differs: false }
      }
      const { number, blockNumber } = (result ?? {}) as Raw
      const isNew = /^eth_getBlockByHash$|^eth_getTransaction(Receipt|ByHash)$/.test(method)
      return isNew && isAhead(number ?? blockNumber)
        ? { result: null, differs: true }
        : { result, differs: false }
    }
  }
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
