import { putJson } from '../../metadata/MetadataHost.ts'
import { tokenStandards } from '../SolanaWorld.ts'
import type { SolanaStage } from './SolanaStage.ts'

/** Plain tokens of both programs: several accounts per mint, extreme amounts, empty and frozen accounts. */
export async function playFungibleScene({ driver, metadata, random, writeMetadata }: SolanaStage) {
  const issue = (label: string, decimals: number, owner: string, amount: bigint) =>
    driver.issue({ label, program: 'spl-token', decimals, kind: 'token' }, owner, amount)
  const coin = await issue('coin', 6, 'alice', 5_000_000n + BigInt(random.below(1_000_000)))
  const savings = await driver.createTokenAccount('coin', 'alice', 'savings of alice')
  const bobsCoin = await driver.createTokenAccount('coin', 'bob')
  await driver.createTokenAccount('coin', 'carol')
  await driver.transfer(coin, savings, 1_234_567n)
  await driver.transfer(coin, bobsCoin, 1n)

  // The largest amount there is, and one just beyond what a double can hold.
  await issue('maximum', 9, 'alice', 2n ** 64n - 1n)
  await issue('odd', 0, 'bob', 2n ** 53n + 1n)

  await driver.freeze(await issue('frozen coin', 2, 'bob', 4_200n))

  // One of a kind, but without any metadata: no NFT.
  await issue('lonely', 0, 'bob', 1n)

  const json = {
    name: 'Named Coin',
    image: `${metadata.url}/solana/named.png`,
    description: 'A fungible one.'
  }
  const uri = putJson(metadata, '/solana/named.json', json)
  driver.world.documents.set(uri, { json })
  await issue('named coin', 9, 'alice', 7n * 10n ** 9n)
  await writeMetadata('named coin', 607, {
    ...{ name: 'Named Coin', symbol: 'NAMED', uri, isMutable: true },
    tokenStandard: tokenStandards.fungible
  })

  const intent = { label: 'new coin', program: 'token-2022', decimals: 4, kind: 'token' } as const
  const alicesNew = await driver.issue(intent, 'alice', 1_000_000n)
  const bobsNew = await driver.createTokenAccount('new coin', 'bob')
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
