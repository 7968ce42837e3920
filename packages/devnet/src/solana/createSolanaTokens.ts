import { type Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { DevnetError } from '../DevnetError.ts'
import { extendedMintSize, type MintExtension, mintExtensions } from './mintExtensions.ts'
import type { SolanaIntent } from './noteTransaction.ts'
import type { SolanaMint, SolanaTokenAccount, SolanaTransaction, SolanaWorld } from './SolanaWorld.ts'
import { solanaMint } from './solanaTruth.ts'
import {
  associatedAddress,
  createSplInstructions,
  mintSize,
  tokenAccountSize,
  tokenPrograms
} from './splInstructions.ts'

const u64Max = 2n ** 64n - 1n

/** A mint to be made. */
export interface MintIntent extends Pick<SolanaMint, 'label' | 'program' | 'decimals' | 'kind'> {
  /** Token-2022 only: metadata in the mint itself. */
  extension?: SolanaMint['extension']
  /** Token-2022 only: anything else that the mint is made with. */
  extensions?: MintExtension[]
}

/** Makes mints and token accounts, and moves what is in them. */
export interface SolanaTokens {
  /** Makes a mint with a supply of 0. */
  createMint(intent: MintIntent): Promise<SolanaMint>
  /** Makes a mint and the first units of it, in the associated account of an owner. */
  issue(intent: MintIntent, owner: string, amount: bigint): Promise<SolanaTokenAccount>
  /**
   * Makes an empty token account.
   *
   * @param auxiliary - A name: makes a further account of the owner instead of the associated one.
   */
  createTokenAccount(mint: string, owner: string, auxiliary?: string): Promise<SolanaTokenAccount>
  /** Mints base units into an account. */
  mintTo(account: SolanaTokenAccount, amount: bigint): Promise<void>
  /** Moves base units; both accounts are of one mint. What a mint withholds does not arrive. */
  transfer(from: SolanaTokenAccount, to: SolanaTokenAccount, amount: bigint): Promise<void>
  /** Freezes an account, which keeps its balance. */
  freeze(account: SolanaTokenAccount): Promise<void>
  /** Hands the rights to mint and to freeze over, as the Metaplex program does with an NFT. */
  giveAuthorityTo(mint: string, address: string): Promise<void>
}

/** @param options.payer - Pays all fees and has the authority over every mint until it is given away. */
export function createSolanaTokens(options: {
  world: SolanaWorld
  payer: PublicKey
  keyOf: (kind: string, name: string) => Keypair
  ownerKey: (name: string) => Keypair
  send: (
    instructions: TransactionInstruction[],
    signers?: Keypair[],
    intent?: SolanaIntent
  ) => Promise<SolanaTransaction>
}): SolanaTokens {
  const { world, payer, keyOf, ownerKey, send } = options
  const splOf = (mint: SolanaMint) => createSplInstructions(mint.program)

  function noteMint({ label, program, decimals, kind, extension }: MintIntent): SolanaMint {
    const address = keyOf('mint', label).publicKey.toBase58()
    const mint: SolanaMint = { label, address, program, decimals, supply: 0n, kind }
    if (extension !== undefined) mint.extension = extension
    world.mints[label] = mint
    return mint
  }

  async function createMint(intent: MintIntent): Promise<SolanaMint> {
    const key = keyOf('mint', intent.label)
    await send(mintInstructions(intent, key.publicKey, payer), [key])
    return noteMint(intent)
  }

  async function issue(intent: MintIntent, owner: string, amount: bigint) {
    const key = keyOf('mint', intent.label)
    const spl = createSplInstructions(intent.program)
    const holder = ownerKey(owner).publicKey
    const address = associatedAddress(intent.program, holder, key.publicKey)
    noteMint(intent).supply = amount
    const account = accountAt(intent.label, owner, address, true)
    await send(
      [
        ...mintInstructions(intent, key.publicKey, payer),
        spl.createAssociated(payer, holder, key.publicKey),
        spl.mintTo(key.publicKey, address, payer, amount)
      ],
      [key],
      { opens: [account], amounts: [[account, amount]] }
    )
    return account
  }

  async function createTokenAccount(label: string, owner: string, auxiliary?: string) {
    const mint = solanaMint(world, label)
    const mintKey = new PublicKey(mint.address)
    const holder = ownerKey(owner).publicKey
    if (auxiliary === undefined) {
      const account = accountAt(label, owner, associatedAddress(mint.program, holder, mintKey), true)
      await send([splOf(mint).createAssociated(payer, holder, mintKey)], [], {
        opens: [account]
      })
      return account
    }
    const key = keyOf('account', auxiliary)
    const space = tokenAccountSize
    const created = SystemProgram.createAccount({
      ...{ fromPubkey: payer, newAccountPubkey: key.publicKey, space },
      ...{ lamports: rent(space), programId: tokenPrograms[mint.program] }
    })
    const account = accountAt(label, owner, key.publicKey, false)
    await send([created, splOf(mint).initializeAccount3(key.publicKey, mintKey, holder)], [key], {
      opens: [account]
    })
    return account
  }

  async function mintTo(account: SolanaTokenAccount, amount: bigint) {
    const mint = solanaMint(world, account.mint)
    if (mint.supply + amount > u64Max)
      throw new DevnetError('MISUSE', `the supply of ${mint.label} overflows`)
    const keys = [new PublicKey(mint.address), new PublicKey(account.address)] as const
    await send([splOf(mint).mintTo(...keys, payer, amount)], [], {
      amounts: [[account, amount]]
    })
    mint.supply += amount
  }

  async function transfer(from: SolanaTokenAccount, to: SolanaTokenAccount, amount: bigint) {
    const mint = solanaMint(world, from.mint)
    const owner = ownerKey(from.owner)
    const parties = {
      from: new PublicKey(from.address),
      mint: new PublicKey(mint.address),
      to: new PublicKey(to.address),
      owner: owner.publicKey
    }
    await send([splOf(mint).transferChecked(parties, amount, mint.decimals)], [owner], {
      amounts: [
        [from, -amount],
        [to, amount - withheld(mint, amount)]
      ]
    })
  }

  async function freeze(account: SolanaTokenAccount) {
    const mint = solanaMint(world, account.mint)
    const keys = [new PublicKey(account.address), new PublicKey(mint.address)] as const
    await send([splOf(mint).freezeAccount(...keys, payer)])
    account.state = 'frozen'
  }

  async function giveAuthorityTo(label: string, address: string) {
    const mint = solanaMint(world, label)
    const [key, next] = [new PublicKey(mint.address), new PublicKey(address)]
    await send([splOf(mint).setAuthority(key, payer, 0, next), splOf(mint).setAuthority(key, payer, 1, next)])
  }

  return { createMint, issue, createTokenAccount, mintTo, transfer, freeze, giveAuthorityTo }
}

/** Makes a mint, with what its extensions need before and after. */
function mintInstructions(
  { program, decimals, extension, extensions = [] }: MintIntent,
  key: PublicKey,
  authority: PublicKey
) {
  const spl = createSplInstructions(program)
  const all = [...extensions, ...(extension === undefined ? [] : [mintExtensions.metadataPointer()])]
  const space = all.length === 0 ? mintSize : extendedMintSize(all)
  const instructions = [
    SystemProgram.createAccount({
      ...{ fromPubkey: authority, newAccountPubkey: key, space },
      // The program may make the account longer later: the rent of that is paid ahead.
      lamports: rent(space + (all.length === 0 ? 0 : 1000)),
      programId: tokenPrograms[program]
    }),
    ...all.flatMap(({ before }) => before?.(key, authority) ?? []),
    spl.initializeMint2(key, decimals, authority),
    ...all.flatMap(({ after }) => after?.(key, authority) ?? [])
  ]
  if (extension !== undefined) {
    instructions.push(spl.initializeTokenMetadata(key, authority, extension))
    for (const [name, value] of extension.additionalMetadata) {
      instructions.push(spl.updateMetadataField(key, authority, name, value))
    }
  }
  return instructions
}

function accountAt(mint: string, owner: string, key: PublicKey, isAssociated: boolean): SolanaTokenAccount {
  return { address: key.toBase58(), mint, owner, amount: 0n, state: 'initialized', isAssociated }
}

/** What stays behind in the receiving account, for whoever may collect it. */
export function withheld({ transferFee }: SolanaMint, amount: bigint): bigint {
  if (transferFee === undefined) return 0n
  const fee = (amount * BigInt(transferFee.basisPoints) + 9_999n) / 10_000n
  return fee < transferFee.maximum ? fee : transferFee.maximum
}

/** Lamports that make an account of so many bytes rent-exempt: two years of rent, 128 bytes of overhead. */
export function rent(bytes: number): number {
  return (bytes + 128) * 3480 * 2
}
