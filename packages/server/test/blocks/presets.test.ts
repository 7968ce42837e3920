import { eventually } from '@chain-data/index/test'
import { describe, expect, it } from 'vitest'
import { chainPresets } from '../../src/model/chainPresets.ts'
import { knownExceptions } from '../../src/model/knownExceptions.ts'
import { account, presetBlocks } from './presetBlocks.ts'
import { type RawBlock, rawBlock } from './rawBlock.ts'
import { type BlockService, startBlockService } from './startBlockService.ts'

type Chain = NonNullable<Parameters<typeof startBlockService>[1]>['chain']

/** Runs a server over a chain whose index begins with this block. */
async function serve(
  block: RawBlock,
  chain: Chain,
  use: (service: BlockService) => Promise<void>
): Promise<void> {
  const number = Number(block.block.number)
  const blocks = [block, rawBlock(number + 1, [])]
  const service = await startBlockService(blocks, { chain: { ...chain, startBlock: number } })
  await use(service).finally(service.close)
}

/** Expects these transactions in the history of the receiver of all transfers, as it comes over the wire. */
const expectHistory = (block: RawBlock, chain: Chain, hashes: readonly string[]) =>
  serve(block, chain, async ({ indexed, history, logLines }) => {
    const { name } = chainPresets.get(Number(chain?.chainId)) ?? {}
    const started = logLines.map(line => JSON.parse(line)).find(({ msg }) => msg === 'a chain is served')
    expect(started).toMatchObject({
      level: 30,
      name,
      preset: 'applied',
      waivers: expect.stringMatching(/\[.+\..+\/.+\]$/)
    })
    await indexed(Number(block.block.number) + 1)
    expect((await history(account)).map(({ hash }) => hash)).toEqual(hashes)
  })

const expectRefusal = (block: RawBlock, chain: Chain) =>
  serve(block, chain, async ({ server, history }) => {
    await eventually('the chain is stalled', () => server.status()[0]?.phase === 'stalled')
    const [status] = server.status()
    expect(status?.problem).toMatch(new RegExp(`block ${Number(block.block.number)}\\b`))
    expect(status?.indexedTo).toBeUndefined()
    await expect(history(account)).rejects.toThrow(/refused/)
  })

const rows = presetBlocks.flatMap(row => row.chainIds.map(chainId => ({ ...row, chainId })))

// Mostly waits: for indexers to find that a block is refused again.
describe.concurrent('the preset of a chain', () => {
  it('has a block here wherever it has exceptions', () => {
    expect(new Set(rows.map(({ chainId }) => chainId))).toEqual(new Set(knownExceptions.keys()))
  })

  it.each(rows)('indexes a block of $chainId: $name', async ({ chainId, build, kept, last }) => {
    const raw = build(last ?? 1)
    const hashes = kept.map(place => String(raw.block.transactions[place]?.hash))
    await expectHistory(raw, { chainId }, hashes)
  })

  it.each(presetBlocks)('is needed for a block of $chainIds: $name', ({ chainIds: [chainId = 0], build }) =>
    expectRefusal(build(1), { chainId, preset: false })
  )

  it.each(rows.filter(({ last }) => last !== undefined))(
    'excuses no later block of $chainId: $name',
    ({ chainId, build, last = 0 }) => expectRefusal(build(last + 1), { chainId })
  )

  it.each(
    presetBlocks.flatMap(({ chainIds, name, spoilt }) =>
      Object.entries(spoilt).map(([fault, build]) => ({ chainId: chainIds[0], name, fault, build }))
    )
  )('excuses nothing else in $name of $chainId: $fault', ({ chainId, build }) =>
    expectRefusal(build(1), { chainId: chainId as number })
  )
})
