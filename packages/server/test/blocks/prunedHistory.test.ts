import { eventually } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { address, rawBlock } from './rawBlock.ts'
import { type BlockService, startBlockService } from './startBlockService.ts'

const services: BlockService[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

it('a node that has pruned old blocks is refused with the startBlock that would do, which then does', async () => {
  const blocks = Array.from({ length: 100 }, (_, i) => rawBlock(i + 1, [{}]))
  const prunedBelow = 43
  const stalled = await startBlockService(blocks, { prunedBelow })
  services.push(stalled)
  const status = () => stalled.server.status()[0]
  await eventually('the start that would do is named', () => status()?.problem?.includes('43') === true)
  expect(status()).toMatchObject({
    phase: 'stalled',
    problem:
      'block 1: the node has pruned it or its receipts, and has them from block 43 on: set startBlock to 43 or later, or take a node that has all blocks'
  })
  // Nothing was stored that would bind the index to another start.
  expect(status()?.indexedTo).toBe(undefined)
  const refused = JSON.parse(await stalled.historyText(address(999)))
  expect(refused.error.data).toMatchObject({
    reason: 'NOT_SYNCED',
    extraMessage: expect.stringMatching(
      /It is stalled: block 1: the node has pruned it .* set startBlock to 43 or later/
    )
  })

  const well = await startBlockService(blocks, { prunedBelow, chain: { startBlock: 43 } })
  services.push(well)
  await well.indexed(100)
  expect(await well.history(address(999))).toHaveLength(58)
})
