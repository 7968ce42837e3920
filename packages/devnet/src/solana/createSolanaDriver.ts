import { createHash } from 'node:crypto'
import {
  type AddressLookupTableAccount,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction
} from '@solana/web3.js'
import { DevnetError } from '../DevnetError.ts'
import { createJsonRpc, type JsonRpc } from '../platform/jsonRpc.ts'
import { createTransactionSender } from './createTransactionSender.ts'
import { extendedMintSize, type MintExtension, mintExtensions } from './mintExtensions.ts'
import { noteTransaction, type SolanaIntent } from './noteTransaction.ts'
import type { SolanaMint, SolanaTokenAccount, SolanaTransaction, SolanaWorld } from './SolanaWorld.ts'
import { solanaMint, solanaOwner } from './solanaTruth.ts'
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

/** How a transaction is sent. */
export interface SendOptions {
  /** Name of the wallet that pays the fee; default the payer. It signs. */
  feePayer?: string
  /** Makes it a transaction of version 0, which takes what it can from this table. */
  lookupTable?: AddressLookupTableAccount
  /** It is meant to fail: it costs its fee and changes nothing else. */
  fails?: true
}

/**
 * Changes what is on a Solana node by real transactions and keeps its {@link SolanaWorld} true.
 *
 * It has to be the only one who does. Calls must not overlap.
 */
export interface SolanaDriver {
  world: SolanaWorld
  connection: Connection
  rpc: JsonRpc
  /** Pays all fees and has the authority over every mint until it is given away. */
  payer: PublicKey
  /**
   * Runs instructions in one transaction and brings the world to what it was meant to do.
   *
   * @param owners - Names of those who sign beside the fee payer.
   * @param intent - What the instructions change; default nothing but the fee.
   */
  send(
    instructions: TransactionInstruction[],
    owners?: string[],
    intent?: SolanaIntent,
    options?: SendOptions
  ): Promise<SolanaTransaction>
  /** The address of something that has a name, existing or not. */
  addressOf(kind: 'mint' | 'account' | 'program', name: string): string
  /** Makes a wallet with exactly so many lamports, or changes how many it has. */
  setLamports(owner: string, lamports: bigint): Promise<void>
  /** Writes an account as it is, rent included: for accounts of programs that are not there. */
  setAccount(address: string, data: Uint8Array, program: PublicKey): Promise<void>
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

/** A key that is the same on every run. @param name - Whose it is. */
function devnetKeypair(name: string): Keypair {
  return Keypair.fromSeed(createHash('sha256').update(`chain-data devnet ${name}`).digest())
}

/**
 * A driver over a fresh surfpool with an empty world.
 *
 * @param keySeed - Part of every derived key, so that worlds of different seeds have different addresses.
 */
export async function createSolanaDriver(
  rpcUrl: string,
  wsUrl: string,
  keySeed: number,
  chainId = 103
): Promise<SolanaDriver> {
  const world: SolanaWorld = {
    ...{ chainId, owners: {}, mints: {} },
    ...{ tokenAccounts: [], transactions: [], documents: new Map() }
  }
  const rpc = createJsonRpc(rpcUrl)
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  const sendTransaction = createTransactionSender(connection)
  const payer = devnetKeypair(`payer ${keySeed}`)
  await writeLamports(rpcUrl, payer.publicKey.toBase58(), 1_000_000_000_000n)
  const keys = new Map<string, Keypair>()
  const ownerKey = (name: string) => keyOf('owner', solanaOwner(world, name).name)
  const splOf = (mint: SolanaMint) => createSplInstructions(mint.program)

  /** Kept, because deriving one takes some milliseconds. */
  function keyOf(kind: string, name: string): Keypair {
    const words = `${kind} ${name} ${keySeed}`
    const key = keys.get(words) ?? devnetKeypair(words)
    keys.set(words, key)
    return key
  }

  async function sendSigned(
    instructions: TransactionInstruction[],
    signers: Keypair[] = [],
    intent: SolanaIntent = {},
    { feePayer: payerName, lookupTable, fails }: SendOptions = {}
  ) {
    const feePayer = payerName === undefined ? payer : ownerKey(payerName)
    const sent = await sendTransaction({
      ...{ instructions, feePayer, signers },
      ...(lookupTable === undefined ? {} : { lookupTable }),
      ...(fails === undefined ? {} : { fails })
    })
    const status: SolanaTransaction['status'] = fails ? 'failed' : 'success'
    const version: SolanaTransaction['version'] = lookupTable === undefined ? 'legacy' : 0
    const payerAddress = feePayer.publicKey.toBase58()
    return noteTransaction(world, { ...sent, status, version, feePayer: payerAddress }, intent)
  }

  async function setLamports(name: string, lamports: bigint) {
    const key = keyOf('owner', name)
    const address = key.publicKey.toBase58()
    await writeLamports(rpcUrl, address, lamports)
    world.owners[name] = { name, address, secretKey: key.secretKey, lamports }
  }

  async function setAccount(address: string, data: Uint8Array, program: PublicKey) {
    await rpc('surfnet_setAccount', address, {
      lamports: rent(data.length),
      data: Buffer.from(data).toString('hex'),
      owner: program.toBase58(),
      executable: false
    })
  }

  function mintInstructions({ label, program, decimals, extension, extensions = [] }: MintIntent) {
    const key = keyOf('mint', label).publicKey
    const spl = createSplInstructions(program)
    const authority = payer.publicKey
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

  function noteMint({ label, program, decimals, kind, extension }: MintIntent): SolanaMint {
    const address = keyOf('mint', label).publicKey.toBase58()
    const mint: SolanaMint = { label, address, program, decimals, supply: 0n, kind }
    if (extension !== undefined) mint.extension = extension
    world.mints[label] = mint
    return mint
  }

  async function createMint(intent: MintIntent): Promise<SolanaMint> {
    await sendSigned(mintInstructions(intent), [keyOf('mint', intent.label)])
    return noteMint(intent)
  }

  async function issue(intent: MintIntent, owner: string, amount: bigint) {
    const key = keyOf('mint', intent.label)
    const spl = createSplInstructions(intent.program)
    const holder = ownerKey(owner).publicKey
    const address = associatedAddress(intent.program, holder, key.publicKey)
    noteMint(intent).supply = amount
    const account = accountAt(intent.label, owner, address, true)
    await sendSigned(
      [
        ...mintInstructions(intent),
        spl.createAssociated(payer.publicKey, holder, key.publicKey),
        spl.mintTo(key.publicKey, address, payer.publicKey, amount)
      ],
      [key],
      { opens: [account], amounts: [[account, amount]] }
    )
    return account
  }

  function accountAt(mint: string, owner: string, key: PublicKey, isAssociated: boolean): SolanaTokenAccount {
    return { address: key.toBase58(), mint, owner, amount: 0n, state: 'initialized', isAssociated }
  }

  async function createTokenAccount(label: string, owner: string, auxiliary?: string) {
    const mint = solanaMint(world, label)
    const mintKey = new PublicKey(mint.address)
    const holder = ownerKey(owner).publicKey
    if (auxiliary === undefined) {
      const account = accountAt(label, owner, associatedAddress(mint.program, holder, mintKey), true)
      await sendSigned([splOf(mint).createAssociated(payer.publicKey, holder, mintKey)], [], {
        opens: [account]
      })
      return account
    }
    const key = keyOf('account', auxiliary)
    const space = tokenAccountSize
    const created = SystemProgram.createAccount({
      ...{ fromPubkey: payer.publicKey, newAccountPubkey: key.publicKey, space },
      ...{ lamports: rent(space), programId: tokenPrograms[mint.program] }
    })
    const account = accountAt(label, owner, key.publicKey, false)
    await sendSigned([created, splOf(mint).initializeAccount3(key.publicKey, mintKey, holder)], [key], {
      opens: [account]
    })
    return account
  }

  async function mintTo(account: SolanaTokenAccount, amount: bigint) {
    const mint = solanaMint(world, account.mint)
    if (mint.supply + amount > u64Max)
      throw new DevnetError('MISUSE', `the supply of ${mint.label} overflows`)
    const keys = [new PublicKey(mint.address), new PublicKey(account.address)] as const
    await sendSigned([splOf(mint).mintTo(...keys, payer.publicKey, amount)], [], {
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
    await sendSigned([splOf(mint).transferChecked(parties, amount, mint.decimals)], [owner], {
      amounts: [
        [from, -amount],
        [to, amount - withheld(mint, amount)]
      ]
    })
  }

  async function freeze(account: SolanaTokenAccount) {
    const mint = solanaMint(world, account.mint)
    const keys = [new PublicKey(account.address), new PublicKey(mint.address)] as const
    await sendSigned([splOf(mint).freezeAccount(...keys, payer.publicKey)])
    account.state = 'frozen'
  }

  async function giveAuthorityTo(label: string, address: string) {
    const mint = solanaMint(world, label)
    const [key, next] = [new PublicKey(mint.address), new PublicKey(address)]
    await sendSigned([
      splOf(mint).setAuthority(key, payer.publicKey, 0, next),
      splOf(mint).setAuthority(key, payer.publicKey, 1, next)
    ])
  }

  return {
    ...{ world, connection, rpc, payer: payer.publicKey, setLamports, setAccount },
    send: (instructions, owners = [], intent, options) =>
      sendSigned(instructions, owners.map(ownerKey), intent, options),
    addressOf: (kind, name) => keyOf(kind, name).publicKey.toBase58(),
    ...{ createMint, issue, createTokenAccount, mintTo, transfer, freeze, giveAuthorityTo }
  }
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

/** Written as text, because a JSON number made from a bigint may not be rounded. */
async function writeLamports(rpcUrl: string, address: string, lamports: bigint) {
  const body = `{"jsonrpc":"2.0","id":1,"method":"surfnet_setAccount","params":["${address}",{"lamports":${lamports}}]}`
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body
  })
  const answer = (await response.json()) as { error?: { message: string } }
  if (answer.error !== undefined) {
    throw new DevnetError('NODE_REFUSED', `surfnet_setAccount: ${answer.error.message}`)
  }
}
