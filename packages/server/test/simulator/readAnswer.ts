import { type Address, type Hash, IndexDamagedError } from '@chain-data/index'
import type { AnswerCoverage } from '../../src/model/coverage.ts'
import { openAbortScope } from '../../src/platform/concurrency/deadline.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { type MethodContext, ResultStream, ResultText } from '../../src/server/methods/MethodContext.ts'
import type { Told, ToldRecord } from './checkAnswer.ts'
import { chainId } from './simulatedNode.ts'
import type { SimulatedServer } from './simulatedServer.ts'

const requestDeadlineMs = 25_000

/**
 * Calls the history method as the dispatcher does, and reads its answer to the end.
 * @throws what is no refusal.
 */
export async function readAnswer(
  history: SimulatedServer['history'],
  address: Address,
  page: { readonly limit?: number; readonly before?: Hash }
): Promise<Told['answer']> {
  let range: Pick<AnswerCoverage, 'from' | 'to'> = {}
  const scope = openAbortScope([])
  scope.setDeadline(requestDeadlineMs)
  const context: MethodContext = {
    chainId,
    signal: scope.signal,
    deadlineMs: Date.now() + requestDeadlineMs,
    onCoverage(coverage) {
      range = coverage
    }
  }
  try {
    const stream = await history([address, page], context)
    if (stream instanceof ResultText)
      return {
        kind: 'records',
        records: JSON.parse(`[${stream.bytes}]`) as ToldRecord[],
        ...toldRange(range)
      }
    if (!(stream instanceof ResultStream)) throw new Error('expected a stream')
    const records: ToldRecord[] = []
    try {
      for await (const chunk of stream.chunks) {
        records.push(...((typeof chunk === 'string' ? JSON.parse(`[${chunk}]`) : chunk) as ToldRecord[]))
      }
    } finally {
      await stream.close()
    }
    return { kind: 'records', records, ...toldRange(range) }
  } catch (error) {
    if (scope.signal.aborted) return { kind: 'refused', reason: 'DEADLINE' }
    if (error instanceof IndexDamagedError) return { kind: 'refused', reason: 'INDEX_DAMAGED' }
    if (!(error instanceof Refusal)) throw error
    const { reason, data } = error as unknown as {
      readonly reason: string
      readonly data: { readonly lastCommonBlock?: { blockNumber: number; blockHash: string } }
    }
    const { lastCommonBlock } = data ?? {}
    return { kind: 'refused', reason, ...(lastCommonBlock === undefined ? {} : { lastCommonBlock }) }
  } finally {
    scope.release()
  }
}

function toldRange({ from, to }: Pick<AnswerCoverage, 'from' | 'to'>) {
  return { from: from ?? 0, to }
}
