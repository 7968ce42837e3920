import { PublicKey } from '@solana/web3.js'
import { putImage, putJson } from '../../metadata/MetadataHost.ts'
import {
  editionAddress,
  encodeEdition,
  encodeMasterEdition,
  encodeMetadata,
  metadataAddress,
  metadataProgram
} from '../metaplexAccounts.ts'
import { mintExtensions as made } from '../mintExtensions.ts'
import {
  type MetaplexMetadata,
  type SolanaKind,
  type TokenMetadataExtension,
  tokenStandards
} from '../SolanaWorld.ts'
import { solanaMint, solanaOwner } from '../solanaTruth.ts'
import { encodeInterfaceAccount, metadataPointerBytes, tokenMetadataBytes } from '../tokenBytes.ts'
import { placeHolding } from './placeHolding.ts'
import type { SolanaStage } from './SolanaStage.ts'

/** Bytes of an account without creators that ends after `isMutable`, or after the edition nonce. */
const shortestSize = 324
const withNonceSize = 326

/** `frank`: metadata of every age, and in every place where a Token-2022 mint may keep it. */
export async function playGenerationScene(stage: SolanaStage): Promise<void> {
  await playMetaplexAges(stage)
  await playMetadataPlaces(stage)
}

async function playMetaplexAges({ driver, metadata }: SolanaStage) {
  const { world } = driver
  const image = putImage(metadata, '/solana/frank.svg', 'frank')
  const json = { name: 'A generation', image, properties: { category: 'image' } }
  const uri = putJson(metadata, '/solana/generation.json', json)
  world.documents.set(uri, { json })
  const creators = ['alice', 'bob', 'carol', 'erin', 'frank'].map((name, at) => {
    const { address } = solanaOwner(world, name)
    return { address, verified: at === 0, share: 20 }
  })
  type Generation = [string, number, Partial<MetaplexMetadata>, SolanaKind?, bigint?]
  const { nonFungible, fungibleAsset, programmableNonFungible, programmableNonFungibleEdition } =
    tokenStandards
  const generations: Generation[] = [
    ['ancient', shortestSize, { primarySaleHappened: true }],
    ['aged', withNonceSize, { editionNonce: 0 }],
    ['five creators', 679, { creators, sellerFeeBasisPoints: 65_535, editionNonce: 250 }],
    ['unnamed', 679, { name: '', symbol: '', uri: '', isMutable: true }],
    [
      'sized collection',
      607,
      { tokenStandard: nonFungible, editionNonce: 249, collectionSize: 2n ** 64n - 1n }
    ],
    ['unruled', 607, { tokenStandard: programmableNonFungible, programmableConfig: {} }],
    ['programmable print', 607, { tokenStandard: programmableNonFungibleEdition, programmableConfig: {} }],
    ['used', 607, { uses: { useMethod: 2, remaining: 0n, total: 1n }, tokenStandard: nonFungible }],
    ['unverified', 679, { collection: { verified: false, key: solanaMint(world, 'collection').address } }],
    ['single asset', 607, { tokenStandard: fungibleAsset }, 'semiFungible', 1n],
    ['old several', withNonceSize, {}, 'semiFungible', 2n ** 64n - 1n],
    ['by its standard', 607, { tokenStandard: tokenStandards.fungible }, 'token', 1n]
  ]
  // Plain mints and accounts as bytes: the token program says nothing new about them, and takes its time.
  await Promise.all(
    generations.map(([label, metaplexSize, given, kind = 'nft', amount = 1n]) => {
      const metaplex: MetaplexMetadata = {
        ...{ updateAuthority: driver.payer.toBase58(), mint: driver.addressOf('mint', label) },
        ...{ name: `Of ${label}`, symbol: 'GEN', uri, sellerFeeBasisPoints: 0 },
        ...{ primarySaleHappened: false, isMutable: false, ...given }
      }
      return placeHolding(driver, {
        ...{ label, owner: 'frank', kind, amount, metaplex, metaplexSize },
        frozen: given.programmableConfig !== undefined,
        metadataBytes: () => encodeMetadata(metaplex, metaplexSize)
      })
    })
  )
  const master = editionAddress(solanaMint(world, 'unruled').address)
  const print = editionAddress(solanaMint(world, 'programmable print').address)
  await driver.setAccount(master, encodeMasterEdition(1n, 10n), metadataProgram)
  await driver.setAccount(print, encodeEdition(master, 1n), metadataProgram)
}

async function playMetadataPlaces({ driver, metadata, writeMetadata }: SolanaStage) {
  const { world } = driver
  const json = { name: 'Somewhere', image: putImage(metadata, '/solana/somewhere.svg', 'somewhere') }
  const uri = putJson(metadata, '/solana/somewhere.json', json)
  world.documents.set(uri, { json })
  const described = (name: string): TokenMetadataExtension => ({
    ...{ updateAuthority: driver.payer.toBase58(), name, symbol: 'PLACE', uri, additionalMetadata: [] }
  })
  const mintOf = (label: string) => driver.addressOf('mint', label)
  const issue = (label: string, pointsTo: string) =>
    driver.issue(
      {
        ...{ label, program: 'token-2022', decimals: 0, kind: 'nft' },
        extensions: [made.metadataPointer(pointsTo)]
      },
      ...(['frank', 1n] as const)
    )

  await issue('pointing to Metaplex', metadataAddress(mintOf('pointing to Metaplex')))
  await writeMetadata('pointing to Metaplex', 607, { name: 'In Metaplex', symbol: 'MPX', uri })

  const keeper = driver.addressOf('account', 'metadata of another program')
  await issue('pointing elsewhere', keeper)
  const elsewhere = { ...described('Elsewhere'), additionalMetadata: [['far', 'away']] as [string, string][] }
  const { address } = solanaMint(world, 'pointing elsewhere')
  const keeperProgram = new PublicKey(driver.addressOf('program', 'metadata'))
  await driver.setAccount(keeper, encodeInterfaceAccount(address, elsewhere), keeperProgram)
  Object.assign(solanaMint(world, 'pointing elsewhere'), { extension: elsewhere, extensionAt: keeper })

  await issue('pointing into the void', driver.addressOf('account', 'void'))
  solanaMint(world, 'pointing into the void').kind = 'token'

  // No instruction makes these: the program wants a pointer before it keeps metadata in a mint.
  const embedded = described('Embedded')
  const fixed = { name: 'For ever', symbol: 'PLACE', uri, additionalMetadata: [] }
  await placeHolding(driver, {
    ...{ label: 'pointing nowhere', owner: 'frank', kind: 'nft', extension: embedded },
    extensions: mint => [metadataPointerBytes(), tokenMetadataBytes(mint, embedded)]
  })
  await placeHolding(driver, {
    ...{ label: 'embedded several', owner: 'frank', kind: 'semiFungible', amount: 3n, extension: fixed },
    extensions: mint => [tokenMetadataBytes(mint, fixed)]
  })
  // Both have metadata twice: the pointer decides, or else the mint's own comes first.
  await placeHolding(driver, {
    ...{
      label: 'twice, to itself',
      owner: 'frank',
      kind: 'nft',
      extension: embedded,
      describedBy: 'extension'
    },
    extensions: mint => [metadataPointerBytes(mint), tokenMetadataBytes(mint, embedded)]
  })
  await placeHolding(driver, {
    ...{ label: 'twice, to Metaplex', owner: 'frank', kind: 'nft', extension: embedded },
    extensions: mint => [metadataPointerBytes(metadataAddress(mint)), tokenMetadataBytes(mint, embedded)]
  })
  for (const label of ['twice, to itself', 'twice, to Metaplex']) {
    await writeMetadata(label, 607, { name: 'The other', symbol: 'MPX', uri: '' })
  }
}
