import { putJson } from '../../metadata/MetadataHost.ts'
import { tokenStandards } from '../SolanaWorld.ts'
import type { SolanaStage } from './SolanaStage.ts'

/** Plain tokens of both programs: several accounts per mint, extreme amounts, empty and frozen accounts. */
export async function playFungibleScene({ driver, metadata, random, writeMetadata }: SolanaStage) {
  await driver.createMint({ label: 'coin', program: 'spl-token', decimals: 6, kind: 'token' })
  const coin = await driver.createTokenAccount('coin', 'alice')
  const savings = await driver.createTokenAccount('coin', 'alice', 'savings of alice')
  const bobsCoin = await driver.createTokenAccount('coin', 'bob')
  await driver.createTokenAccount('coin', 'carol')
  await driver.mintTo(coin, 5_000_000n + BigInt(random.below(1_000_000)))
  await driver.transfer(coin, savings, 1_234_567n)
  await driver.transfer(coin, bobsCoin, 1n)

  // The largest amount there is, and one just beyond what a double can hold.
  await driver.createMint({ label: 'maximum', program: 'spl-token', decimals: 9, kind: 'token' })
  await driver.mintTo(await driver.createTokenAccount('maximum', 'alice'), 2n ** 64n - 1n)
  await driver.createMint({ label: 'odd', program: 'spl-token', decimals: 0, kind: 'token' })
  const odd = await driver.createTokenAccount('odd', 'bob')
  await driver.mintTo(odd, 2n ** 53n + 1n)

  await driver.createMint({ label: 'frozen coin', program: 'spl-token', decimals: 2, kind: 'token' })
  const frozen = await driver.createTokenAccount('frozen coin', 'bob')
  await driver.mintTo(frozen, 4_200n)
  await driver.freeze(frozen)

  // One of a kind, but without any metadata: no NFT.
  await driver.createMint({ label: 'lonely', program: 'spl-token', decimals: 0, kind: 'token' })
  await driver.mintTo(await driver.createTokenAccount('lonely', 'bob'), 1n)

  const json = {
    name: 'Named Coin',
    image: `${metadata.url}/solana/named.png`,
    description: 'A fungible one.'
  }
  const uri = putJson(metadata, '/solana/named.json', json)
  driver.world.documents.set(uri, { json })
  await driver.createMint({ label: 'named coin', program: 'spl-token', decimals: 9, kind: 'token' })
  await driver.mintTo(await driver.createTokenAccount('named coin', 'alice'), 7n * 10n ** 9n)
  await writeMetadata('named coin', 607, {
    ...{ name: 'Named Coin', symbol: 'NAMED', uri, isMutable: true },
    tokenStandard: tokenStandards.fungible
  })

  await driver.createMint({ label: 'new coin', program: 'token-2022', decimals: 4, kind: 'token' })
  const alicesNew = await driver.createTokenAccount('new coin', 'alice')
  const bobsNew = await driver.createTokenAccount('new coin', 'bob')
  await driver.mintTo(alicesNew, 1_000_000n)
  await driver.transfer(alicesNew, bobsNew, 250_000n)

  const own = { name: 'Self-describing', description: 'Metadata in the mint itself.' }
  const ownUri = putJson(metadata, '/solana/self-describing.json', own)
  driver.world.documents.set(ownUri, { json: own })
  await driver.createMint({
    ...{ label: 'self-describing coin', program: 'token-2022', decimals: 2, kind: 'token' },
    extension: {
      ...{ updateAuthority: driver.payer.toBase58(), name: 'Self-describing', symbol: 'SELF', uri: ownUri },
      additionalMetadata: [['colour', 'blue']]
    }
  })
  await driver.mintTo(await driver.createTokenAccount('self-describing coin', 'alice'), 100n)
}
