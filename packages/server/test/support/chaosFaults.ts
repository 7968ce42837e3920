import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import type { RpcMessage } from './startFaultProxy.ts'

type Raw = Record<string, unknown>
/** Asks the node behind the proxy. */
export type AskNode = (method: string, ...params: unknown[]) => Promise<unknown>

/** Something wrong with one result. */
export interface ResultFault {
  /** @returns whether this result can be spoiled so. */
  fits(call: RpcMessage, result: unknown): boolean
  spoil(call: RpcMessage, result: unknown, random: Random, ask: AskNode): unknown
}

const otherHash = `0x${'7'.repeat(64)}`

const isBlock = (result: unknown): result is Raw =>
  typeof result === 'object' && result !== null && 'parentHash' in result
const isReceipt = (result: unknown): result is Raw =>
  typeof result === 'object' && result !== null && 'cumulativeGasUsed' in result
/** A list of receipts, or one where a node has no lists. */
const receiptsIn = (result: unknown): Raw[] =>
  isReceipt(result) ? [result] : Array.isArray(result) && result.every(isReceipt) ? result : []
const logsOf = (receipt: Raw): Raw[] => receipt.logs as Raw[]
const withLogs = (result: unknown) => receiptsIn(result).filter(receipt => logsOf(receipt).length > 0)

/** Changes one receipt in place; the answer is the proxy's own copy. */
function changeReceipt(
  result: unknown,
  among: readonly Raw[],
  random: Random,
  change: (receipt: Raw) => void
) {
  change(among[random.below(among.length)]!)
  return result
}

const changeLog = (change: (log: Raw, random: Random) => void): ResultFault => ({
  fits: (_, result) => withLogs(result).length > 0,
  spoil: (_, result, random) =>
    changeReceipt(result, withLogs(result), random, receipt => {
      const logs = logsOf(receipt)
      change(logs[random.below(logs.length)]!, random)
    })
})

/** Faults inside a well-formed answer, by name. */
export const resultFaults = {
  null: { fits: (_, result) => result !== null, spoil: () => null },
  emptyList: {
    fits: (_, result) => Array.isArray(result) && result.length > 0,
    spoil: () => []
  },
  otherBlock: {
    fits: ({ method }, result) =>
      method === 'eth_getBlockByNumber' && isBlock(result) && Number(result.number) > 5,
    spoil: ({ params }, result, random, ask) =>
      ask('eth_getBlockByNumber', hex(Number((result as Raw).number) - 1 - random.below(5)), params[1])
  },
  otherReceipts: {
    fits: ({ method }, result) => method === 'eth_getBlockReceipts' && receiptsIn(result).length > 0,
    spoil: (_, result, random, ask) =>
      ask('eth_getBlockReceipts', hex(Number(receiptsIn(result)[0]?.blockNumber) - 1 - random.below(2)))
  },
  cutReceipts: {
    fits: (_, result) => Array.isArray(result) && receiptsIn(result).length > 0,
    spoil: (_, result, random) => (result as Raw[]).slice(0, random.below((result as Raw[]).length))
  },
  swappedReceipts: {
    fits: (_, result) => receiptsIn(result).length > 1,
    spoil(_, result) {
      const [first, second, ...rest] = result as [Raw, Raw, ...Raw[]]
      return [second, first, ...rest]
    }
  },
  wrongBlockHash: {
    fits: (_, result) => isBlock(result),
    spoil: (_, result) => ({ ...(result as Raw), hash: otherHash })
  },
  wrongReceiptHash: {
    fits: (_, result) => receiptsIn(result).length > 0,
    spoil: (_, result, random) =>
      changeReceipt(result, receiptsIn(result), random, receipt => {
        receipt[random.pick(['blockHash', 'transactionHash'])] = otherHash
      })
  },
  wrongLogHash: changeLog((log, random) => {
    log[random.pick(['blockHash', 'transactionHash'])] = otherHash
  }),
  removedLog: changeLog(log => {
    log.removed = true
  }),
  missingLog: {
    fits: (_, result) => withLogs(result).length > 0,
    spoil: (_, result, random) =>
      changeReceipt(result, withLogs(result), random, receipt => {
        const logs = logsOf(receipt)
        logs.splice(random.below(logs.length), 1)
      })
  }
} as const satisfies Record<string, ResultFault>

/** Faults of the exchange itself, whatever was asked. The last needs more than one answer. */
export const exchangeFaults = [
  'droppedBefore',
  'droppedInside',
  'reset',
  'delayed',
  'cutBody',
  'tooManyRequests',
  'serverError',
  'html',
  'wrongId',
  'missingEntry'
] as const

export type ResultFaultName = keyof typeof resultFaults
export type ExchangeFaultName = (typeof exchangeFaults)[number]
/** `lag` is no fault of an answer but of a whole upstream. */
export type FaultName = ResultFaultName | ExchangeFaultName | 'lag'

export const faultNames: readonly FaultName[] = [
  ...(Object.keys(resultFaults) as ResultFaultName[]),
  ...exchangeFaults,
  'lag'
]

function hex(value: number): string {
  return `0x${Math.max(0, value).toString(16)}`
}
