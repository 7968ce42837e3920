import type { PublicKey } from '@solana/web3.js'
import type { SolanaDriver } from '../createSolanaDriver.ts'
import { metadataAddress, metadataProgram } from '../metaplexAccounts.ts'
import type { SolanaMint } from '../SolanaWorld.ts'
import { solanaOwner } from '../solanaTruth.ts'
import { tokenPrograms } from '../splInstructions.ts'
import { type ExtensionBytes, encodeMint, encodeTokenAccount } from '../tokenBytes.ts'

/** A mint and one token account of it that are written as bytes, because no instruction would make them. */
export interface PlacedHolding extends Partial<Omit<SolanaMint, 'label' | 'address'>> {
  label: string
  owner: string
  /** Default 1. */
  amount?: bigint
  /** The token account is. */
  frozen?: boolean
  /** Extensions of the mint, given its address; makes it one of Token-2022. */
  extensions?: (mint: string) => ExtensionBytes[]
  /** Instead of a mint; `undefined` leaves nothing at its address. */
  mintBytes?: (sound: Buffer) => Buffer | undefined
  /** What stands where Metaplex keeps the metadata. */
  metadataBytes?: (mint: string) => Buffer
  /** Owns that; default Metaplex. */
  metadataProgram?: PublicKey
}

/** Notes accounts and writes them: without more, one unit of a plain token. May run beside others. */
export async function placeHolding(driver: SolanaDriver, placed: PlacedHolding): Promise<SolanaMint> {
  const { label, owner, amount = 1n, frozen = false, extensions, mintBytes, metadataBytes } = placed
  const { metadataProgram: keeper = metadataProgram, ...rest } = placed
  const address = driver.addressOf('mint', label)
  const account = driver.addressOf('account', label)
  const mint: SolanaMint = {
    ...{ label, address, program: extensions === undefined ? 'spl-token' : 'token-2022' },
    ...{ decimals: 0, supply: amount, kind: 'token' },
    ...truthOf(rest)
  }
  const program = tokenPrograms[mint.program]
  const sound = encodeMint(mint, extensions?.(address))
  const data = mintBytes === undefined ? sound : mintBytes(sound)
  const holder = { mint: address, owner: solanaOwner(driver.world, owner).address, amount, frozen }
  driver.world.mints[label] = mint
  driver.world.tokenAccounts.push({
    address: account,
    mint: label,
    owner,
    amount,
    state: frozen ? 'frozen' : 'initialized',
    isAssociated: false
  })
  const writes = [driver.setAccount(account, encodeTokenAccount(holder), program)]
  if (data !== undefined) writes.push(driver.setAccount(address, data, program))
  if (metadataBytes !== undefined) {
    writes.push(driver.setAccount(metadataAddress(address), metadataBytes(address), keeper))
  }
  await Promise.all(writes)
  return mint
}

/** What the world knows of a mint, without how it was written. */
function truthOf(placed: Partial<PlacedHolding>): Partial<SolanaMint> {
  const { owner: _owner, amount: _amount, frozen: _frozen, extensions: _of, ...rest } = placed
  const { mintBytes: _mint, metadataBytes: _metadata, ...truth } = rest
  return truth
}
