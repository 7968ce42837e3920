import { putImage, putJson } from '../../metadata/MetadataHost.ts'
import { editionAddress, encodeEdition, encodeMasterEdition, metadataProgram } from '../metaplexAccounts.ts'
import { type SolanaKind, type SolanaMint, tokenStandards } from '../SolanaWorld.ts'
import { solanaMint, solanaOwner } from '../solanaTruth.ts'
import type { SolanaStage } from './SolanaStage.ts'

/** NFTs and semi-fungible tokens of every standard, with and without metadata behind their URIs. */
export async function playCollectibleScene(stage: SolanaStage): Promise<void> {
  const { driver, metadata, writeMetadata } = stage
  const { world } = driver
  const creator = (name: string, share: number) => ({
    ...{ address: solanaOwner(world, name).address, verified: share >= 50, share }
  })
  const publish = (path: string, json: Record<string, unknown>) => {
    const uri = putJson(metadata, path, json)
    world.documents.set(uri, { json })
    return uri
  }
  const make = (label: string, owner: string, kind: SolanaKind = 'nft', amount = 1n) =>
    driver.issue({ label, program: 'spl-token', decimals: 0, kind }, owner, amount)
  const image = putImage(metadata, '/solana/1.svg', 'nft 1')

  await make('collection', 'carol')
  await writeMetadata('collection', 607, {
    ...{ name: 'The Collection', symbol: 'COL', uri: '', editionNonce: 255, collectionSize: 2n },
    tokenStandard: tokenStandards.nonFungible
  })

  await make('old nft', 'alice')
  await writeMetadata('old nft', 679, {
    ...{ name: 'Old NFT #1', symbol: 'OLD', sellerFeeBasisPoints: 500, isMutable: true },
    ...{ primarySaleHappened: true, editionNonce: 254, creators: [creator('bob', 70), creator('carol', 30)] },
    uri: publish('/solana/old.json', {
      name: 'Old NFT #1',
      image,
      attributes: [{ trait_type: 'Age', value: 9 }]
    })
  })
  await makeMaster(stage, 'old nft', 0n)

  const moved = await make('new nft', 'alice')
  await writeMetadata('new nft', 607, {
    ...{ name: 'Neue NFT „ü“', symbol: 'NEW', sellerFeeBasisPoints: 10_000, editionNonce: 253 },
    ...{ tokenStandard: tokenStandards.nonFungible, creators: [creator('alice', 100)] },
    collection: { verified: true, key: solanaMint(world, 'collection').address },
    uses: { useMethod: 1, remaining: 2n ** 60n, total: 2n ** 64n - 1n },
    uri: publish('/solana/new.json', {
      name: 'New',
      image,
      properties: { files: [{ uri: image }] },
      empty: null
    })
  })
  // It moves on: the account it leaves behind holds nothing any more.
  await driver.transfer(moved, await driver.createTokenAccount('new nft', 'bob'), 1n)
  await makeMaster(stage, 'new nft')

  const programmable = await make('programmable nft', 'alice')
  await writeMetadata('programmable nft', 679, {
    ...{ name: 'Rules apply', symbol: 'PNFT', uri: `${metadata.url}/solana/nowhere.json`, editionNonce: 252 },
    ...{ tokenStandard: tokenStandards.programmableNonFungible, isMutable: true },
    programmableConfig: { ruleSet: 'eBJLFYPxJmMGKuFwpDWkzxZeUrad92kZRC5BJLpzyT9' }
  })
  await driver.freeze(programmable)
  await makeMaster(stage, 'programmable nft', 0n)

  await make('print', 'bob')
  await writeMetadata('print', 607, {
    ...{ name: 'Print 3 of new', symbol: 'NEW', uri: solanaMint(world, 'new nft').metaplex?.uri ?? '' },
    ...{ tokenStandard: tokenStandards.nonFungibleEdition, editionNonce: 251 }
  })
  const parent = editionAddress(solanaMint(world, 'new nft').address)
  const print = editionAddress(solanaMint(world, 'print').address)
  await driver.setAccount(print, encodeEdition(parent, 3n), metadataProgram)
  await driver.giveAuthorityTo('print', print)

  await make('fungible asset', 'alice', 'semiFungible', 100n)
  await writeMetadata('fungible asset', 607, {
    ...{ name: 'Gem', symbol: 'GEM', tokenStandard: tokenStandards.fungibleAsset },
    uri: publish('/solana/gem.json', { name: 'Gem', image })
  })
  await make('old semi-fungible', 'bob', 'semiFungible', 5n)
  const html = { status: 200, contentType: 'text/html', body: '<p>gone</p>' }
  const malformed = metadata.put('/solana/malformed.json', html)
  world.documents.set(malformed, {})
  await writeMetadata('old semi-fungible', 679, { name: 'Ticket', symbol: '', uri: malformed })

  // A number that stands for no standard is found in the wild; everything else about it is an NFT's.
  await make('strange standard', 'alice')
  const inline = { name: 'Inline', description: 'carried in the URI' }
  const inlineUri = `data:application/json;base64,${btoa(JSON.stringify(inline))}`
  world.documents.set(inlineUri, { json: inline })
  await writeMetadata('strange standard', 679, {
    name: 'Strange',
    symbol: '?',
    uri: inlineUri,
    tokenStandard: 126
  })

  const own = publish('/solana/own.json', { name: 'Own words', image })
  const extension: NonNullable<SolanaMint['extension']> = {
    ...{ updateAuthority: driver.payer.toBase58(), name: 'Own words', symbol: 'OWN', uri: own },
    additionalMetadata: []
  }
  await driver.issue(
    { label: 'own words', program: 'token-2022', decimals: 0, kind: 'nft', extension },
    ...(['alice', 1n] as const)
  )
}

/** What the Metaplex program does to make a mint a one-off: an edition account that takes over its authorities. */
async function makeMaster({ driver }: SolanaStage, label: string, maxSupply?: bigint) {
  const edition = editionAddress(solanaMint(driver.world, label).address)
  await driver.setAccount(edition, encodeMasterEdition(0n, maxSupply), metadataProgram)
  await driver.giveAuthorityTo(label, edition)
}
