import { type IndexedBlock, openStoreWriter, type StoreLocation } from '@chain-data/index'
import { encodeBlock, packBlocks } from '@chain-data/index/record'
import { toIndexedBlock } from '../../src/evm/blocks/blockRows.ts'
import { createEvmSource } from '../../src/evm/blocks/evmSource.ts'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'

const chainId = 31337

/** A transaction, and one of its parties. */
interface Party {
  readonly blockNumber: number
  readonly index: number
  readonly address: string
}

/**
 * Indexes the newest blocks anew, as an indexer would that overlooks a party of a transaction: the index is whole by its checksums.
 * @returns indexes them as they are.
 */
export async function loseParty(
  location: StoreLocation,
  rpcUrl: string,
  lost: Party
): Promise<() => Promise<void>> {
  const rpc = createEvmRpc({ chainId, rpcUrls: [rpcUrl] })
  const source = createEvmSource({ rpc, finality: 'auto', traces: 'on', dev: true })
  const signal = AbortSignal.timeout(60_000)
  const read = async (number: number) => toIndexedBlock(await source.block(number, signal))
  const genesisHash = (await read(0)).ref.hash

  async function index(isParty: (address: string, position: Party) => boolean): Promise<void> {
    const writer = await openStoreWriter(location, { chainId, genesisHash })
    try {
      const ancestor = await writer.blockRef(lost.blockNumber - 1)
      if (ancestor === undefined) throw new Error(`there is no block before ${lost.blockNumber}`)
      const { head = ancestor } = await writer.state()
      const blocks: IndexedBlock[] = []
      for (let number = lost.blockNumber; number <= head.number; number++) blocks.push(await read(number))
      await writer.rollbackTo(ancestor)
      const changed = blocks.map(block => ({
        ...block,
        transactions: block.transactions.map(each => ({
          ...each,
          parties: each.parties.filter(address => isParty(address, { ...each.transaction, address }))
        }))
      }))
      await writer.commitBlocks(packBlocks(changed.map(encodeBlock)))
      await writer.markSettled()
    } finally {
      await writer.close()
    }
  }

  await index(
    (address, { blockNumber, index: place }) =>
      address !== lost.address || blockNumber !== lost.blockNumber || place !== lost.index
  )
  return async () => {
    await index(() => true)
    rpc.close()
  }
}
