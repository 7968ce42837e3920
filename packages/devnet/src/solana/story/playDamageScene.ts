import { PublicKey, SystemProgram } from '@solana/web3.js'
import { encodeMetadata, metadataAddress } from '../metaplexAccounts.ts'
import type { MetaplexMetadata } from '../SolanaWorld.ts'
import { solanaMint, solanaOwner } from '../solanaTruth.ts'
import { tokenPrograms } from '../splInstructions.ts'
import {
  encodeInterfaceAccount,
  encodeTokenAccount,
  metadataPointerBytes,
  tokenMetadataBytes,
  uiAmountBytes
} from '../tokenBytes.ts'
import { type PlacedHolding, placeHolding } from './placeHolding.ts'
import type { SolanaStage } from './SolanaStage.ts'

type Placed = Omit<PlacedHolding, 'label' | 'owner'>

/** `grace`: accounts that no program leaves behind, each next to sound ones. All are written as bytes. */
export async function playDamageScene({ driver }: SolanaStage): Promise<void> {
  const stranger = driver.addressOf('mint', 'stranger')
  const program = new PublicKey(driver.addressOf('program', 'metadata'))
  const metaplex = (mint: string, given: Partial<MetaplexMetadata> = {}, size = 679) =>
    encodeMetadata(
      {
        ...{ updateAuthority: stranger, mint, name: 'Damaged', symbol: 'DMG', uri: '' },
        ...{ sellerFeeBasisPoints: 0, primarySaleHappened: false, isMutable: false, ...given }
      },
      size
    )
  const creators = Array.from({ length: 6 }, () => ({ address: stranger, verified: false, share: 1 }))
  const words = { name: 'Damaged', symbol: 'DMG', uri: '', additionalMetadata: [] }
  const sound = { updateAuthority: stranger, name: 'Sound', symbol: 'OK', uri: '' }
  const none: Placed = {}
  const metadata: Placed = { damage: 'metadata' }
  const places: Record<string, Placed> = {
    // The mint, and with it what an amount means.
    gone: { damage: 'mint', mintBytes: () => undefined },
    'gone 2022': { damage: 'mint', program: 'token-2022', mintBytes: () => undefined },
    zeroed: { damage: 'mint', mintBytes: bytes => bytes.fill(0) },
    'cut mint': { damage: 'mint', mintBytes: bytes => bytes.subarray(0, 81) },
    'a multisig': { damage: 'mint', mintBytes: () => Buffer.alloc(355, 1) },
    'an account for a mint': { damage: 'mint', program: 'token-2022', mintBytes: () => Buffer.alloc(170, 2) },
    'without supply': { ...none, supply: 0n },

    // What Metaplex keeps.
    'cut metadata': { ...metadata, metadataBytes: mint => metaplex(mint).subarray(0, 150) },
    'an edition': { ...metadata, metadataBytes: mint => metaplex(mint).fill(6, 0, 1) },
    'of another mint': { ...metadata, metadataBytes: () => metaplex(stranger) },
    'six creators': { ...metadata, metadataBytes: mint => metaplex(mint, { creators }) },
    'of no program': { ...metadata, metadataBytes: mint => metaplex(mint), metadataProgram: program },
    'closed metadata': { ...none, metadataBytes: () => Buffer.alloc(679) },
    'lamports only': {
      ...none,
      metadataBytes: () => Buffer.alloc(0),
      metadataProgram: SystemProgram.programId
    },

    // What Token-2022 keeps.
    'naming another': { ...metadata, extensions: () => [tokenMetadataBytes(stranger, words)] },
    'cut words': {
      ...metadata,
      extensions: mint => [[19, tokenMetadataBytes(mint, words)[1].subarray(0, 70)]]
    },
    overlapping: { ...metadata, ...damagedEnd(bytes => bytes.writeUInt16LE(65_535, 168)) },
    'cut extensions': { ...metadata, ...damagedEnd(bytes => bytes.subarray(0, bytes.length - 9)) },
    'strange words': { ...none, extensions: () => [[60_000, Buffer.alloc(40, 200)]] },
    'short pointer': { ...metadata, extensions: () => [[18, Buffer.alloc(63, 1)]] },
    'pointing to a stranger': { ...metadata, extensions: () => [metadataPointerBytes(stranger)] },
    'pointing to a liar': {
      ...metadata,
      extensions: () => [metadataPointerBytes(driver.addressOf('account', 'liar'))]
    },
    'shown as nothing': {
      ...metadata,
      extensions: () =>
        uiAmountBytes({
          scaledUiAmount: { multiplier: Number.NaN, newMultiplier: 1, newMultiplierEffectiveTimestamp: 0 }
        })
    }
  }
  const neighbour = { updateAuthority: stranger, mint: '', name: 'Sound', symbol: 'OK', uri: '' }
  const nft = { ...neighbour, sellerFeeBasisPoints: 0, primarySaleHappened: false, isMutable: false }
  const soundMint = driver.addressOf('mint', 'sound nft')
  const extension = { ...sound, additionalMetadata: [] }
  await Promise.all([
    ...Object.entries(places).map(([label, placed]) =>
      placeHolding(driver, { label, owner: 'grace', ...placed })
    ),
    placeHolding(driver, {
      ...{ label: 'sound nft', owner: 'grace', kind: 'nft', metaplexSize: 607 },
      ...{
        metaplex: { ...nft, mint: soundMint },
        metadataBytes: mint => metaplex(mint, { ...nft, mint }, 607)
      }
    }),
    placeHolding(driver, {
      ...{ label: 'sound words', owner: 'grace', kind: 'nft', extension },
      extensions: mint => [tokenMetadataBytes(mint, extension)]
    }),
    driver.setAccount(stranger, metaplex(metadataAddress(stranger)), tokenPrograms['spl-token']),
    driver.setAccount(driver.addressOf('account', 'liar'), encodeInterfaceAccount(stranger, words), program)
  ])
  // The old program knows no extensions.
  const { address: mint } = solanaMint(driver.world, 'sound nft')
  const { address: owner } = solanaOwner(driver.world, 'grace')
  const address = driver.addressOf('account', 'extended')
  const data = encodeTokenAccount({ mint, owner, amount: 1n }, [[7, Buffer.alloc(0)]])
  await driver.setAccount(address, data, tokenPrograms['spl-token'])
  driver.world.tokenAccounts.push({
    ...{ address, mint: 'sound nft', owner: 'grace', amount: 1n },
    ...{ state: 'initialized', isAssociated: false, isDamaged: true }
  })
  // More of it in an account than there is: one of the two must be wrong.
  const beyond = driver.world.tokenAccounts.find(account => account.mint === 'without supply')
  if (beyond !== undefined) beyond.isDamaged = true
}

/** A mint with a pointer to nowhere whose extensions have been damaged. */
function damagedEnd(harm: (bytes: Buffer) => unknown): Placed {
  return {
    extensions: () => [metadataPointerBytes()],
    mintBytes: bytes => {
      const harmed = harm(bytes)
      return Buffer.isBuffer(harmed) ? harmed : bytes
    }
  }
}
