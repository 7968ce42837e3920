import type { Address, HoldingCandidate } from '@chain-data/index'
import type { EvmRpc } from '../../src/nodes/evm/rpc.ts'
import { assembleContract, returnsText, returnsWord, selectors } from '../../test/evm/assembleContract.ts'

/** Whose holdings are read. */
export const owner: Address = '0x00000000000000000000000000000000000a11ce'

const collection: Address = addressAt(0x2000000)

/** What one account may hold, as candidates. The same on every run: addresses and ids count up. */
export const datasets: Readonly<Record<string, () => HoldingCandidate[]>> = {
  tokens: () => tokens(1_000),
  ids: () => ids(10_000),
  'tokens and ids': () => [...tokens(1_000), ...ids(10_000)],
  flood: () => tokens(100_000)
}

function tokens(count: number): HoldingCandidate[] {
  return Array.from({ length: count }, (_, i) => ({
    owner,
    contract: addressAt(0x1000000 + i),
    standard: 'erc20'
  }))
}

function ids(count: number): HoldingCandidate[] {
  return Array.from({ length: count }, (_, i) => ({
    owner,
    contract: collection,
    standard: 'erc721',
    tokenId: BigInt(i)
  }))
}

function addressAt(place: number): Address {
  return `0x${place.toString(16).padStart(40, '0')}`
}

const perBatch = 1_000

/** Puts a contract behind every candidate of every dataset, and commits them to a block. */
export async function seedDatasets(rpc: EvmRpc): Promise<void> {
  const token = assembleContract({
    [selectors.balanceOf]: returnsWord(1_000n),
    [selectors.decimals]: returnsWord(18),
    [selectors.name]: returnsText('Benchmark Token'),
    [selectors.symbol]: returnsText('BENCH')
  })
  const nft = assembleContract({
    [selectors.ownerOf]: returnsWord(BigInt(owner)),
    [selectors.tokenURI]: returnsText(
      'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/1.json'
    ),
    [selectors.name]: returnsText('Benchmark Collection'),
    [selectors.symbol]: returnsText('BENCH')
  })
  const calls = [
    { method: 'anvil_setCode', params: [collection, nft] },
    ...tokens(100_000).map(({ contract }) => ({ method: 'anvil_setCode', params: [contract, token] }))
  ]
  for (let at = 0; at < calls.length; at += perBatch) {
    const outcomes = await rpc.batch(calls.slice(at, at + perBatch))
    for (const outcome of outcomes) if (!outcome.ok) throw outcome.error
  }
  await rpc.request({ method: 'evm_mine', params: [] })
}
