import { StoreInUseError, type StoreWriter } from '@chain-data/index'
import { eventually } from '@chain-data/index/test'
import { expect, it } from 'vitest'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { silentLogger } from '../../platform/logger.ts'
import { openInTurn } from './openInTurn.ts'
import { createStatusBoard, startingStatus } from './status.ts'

it('an index that is slow to open is not blamed on another writer, before one has refused the lock', async () => {
  const board = createStatusBoard(startingStatus(1, 0))
  const stopping = new AbortController()
  const refusals: ((error: Error) => void)[] = []
  const opening = openInTurn({
    openWriter: () => new Promise<StoreWriter>((_, reject) => refusals.push(reject)),
    // There is no index yet.
    peek: async () => undefined,
    ...{ board, startBlock: 0, silentAfterMs: -1, signal: stopping.signal, logger: silentLogger },
    ...{ found: { chainId: 1, genesisHash: '0x' }, rpc: {} as EvmUpstreams }
  })
  const problem = () => board.read().problem
  expect(await eventually('it is stalled', problem)).toMatch(
    /^the index could not be opened for more than -1 ms, and no other writer was met/
  )
  refusals[0]?.(new StoreInUseError('another process or thread is writing this chain'))
  await eventually('the other writer is named', () =>
    problem()?.startsWith("another process or thread holds the writer's lock of this chain")
  )
  stopping.abort()
  refusals[1]?.(new Error('given up'))
  expect(await opening).toBeUndefined()
})
