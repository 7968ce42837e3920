import { putImage, putJson } from '../../metadata/MetadataHost.ts'
import { createContract } from '../evmIntents.ts'
import { evmContract, fillUriTemplate } from '../evmTruth.ts'
import type { Stage } from './Stage.ts'

/** An ERC-1155 contract: single and batch mints and transfers, and a holder that never sent anything. */
export async function playMultiTokenScene({ driver, calls, metadata, random }: Stage): Promise<void> {
  const uriTemplate = `${metadata.url}/evm/items/{id}.json`
  await driver.send({
    ...{ label: 'creation of the items', from: 'deployer' },
    ...createContract('DevMultiToken', ['Devnet Items', 'ITEM', uriTemplate], {
      ...{ label: 'items', kind: 'erc1155', name: 'Devnet Items', symbol: 'ITEM', uriTemplate }
    })
  })
  await driver.mine()
  const items = evmContract(driver.world, 'items')
  const publish = (tokenId: bigint, name: string) => {
    const path = fillUriTemplate('/evm/items/{id}.json', tokenId)
    const json = { name, image: putImage(metadata, `/evm/items/${tokenId}.svg`, name), decimals: 0 }
    driver.world.documents.set(putJson(metadata, path, json), { via: 'http', json })
  }
  publish(1n, 'Sword')
  publish(2n, 'Shield')
  publish(0xabcn, 'Potion')
  const own = { name: 'Elixir', properties: { strength: 3 } }
  const ownUri = putJson(metadata, '/evm/elixir.json', own)
  driver.world.documents.set(ownUri, { via: 'http', json: own })

  await driver.send({ label: 'mint of swords', ...calls.erc1155Mint('deployer', items, 'alice', 1n, 10n) })
  await driver.send({
    label: 'mint of many items',
    ...calls.erc1155MintBatch('deployer', items, 'bob', [
      { tokenId: 1n, amount: 5n },
      { tokenId: 2n, amount: BigInt(100 + random.below(900)) },
      { tokenId: 0xabcn, amount: 10n ** 30n },
      { tokenId: 4n, amount: 2n }
    ])
  })
  await driver.send({ label: 'URI of the elixir', ...calls.setTokenUri('deployer', items, 4n, ownUri) })
  await driver.mine()
  await driver.send({ label: 'sword to frank', ...calls.erc1155Transfer('alice', items, 'frank', 1n, 3n) })
  await driver.mine()
  await driver.send({
    label: 'many items to frank',
    ...calls.erc1155BatchTransfer('bob', items, 'frank', [
      { tokenId: 1n, amount: 5n },
      { tokenId: 0xabcn, amount: 10n ** 29n }
    ])
  })
  await driver.send({ label: 'items to mallory', ...calls.erc1155Transfer('bob', items, 'mallory', 4n, 1n) })
  await driver.mine()
}
