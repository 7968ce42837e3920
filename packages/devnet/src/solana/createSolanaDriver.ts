import { createHash } from 'node:crypto'
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction
} from '@solana/web3.js'
import { DevnetError } from '../DevnetError.ts'
import { createJsonRpc, type JsonRpc } from '../platform/jsonRpc.ts'
import type { SolanaMint, SolanaTokenAccount, SolanaWorld } from './SolanaWorld.ts'
import { solanaMint, solanaOwner } from './solanaTruth.ts'
import {
  associatedAddress,
  createSplInstructions,
  mintSize,
  mintWithPointerSize,
  tokenAccountSize,
  tokenPrograms
} from './splInstructions.ts'

const u64Max = 2n ** 64n - 1n

/** A mint to be made. */
export interface MintIntent extends Pick<SolanaMint, 'label' | 'program' | 'decimals' | 'kind'> {
  /** Token-2022 only. */
  extension?: SolanaMint['extension']
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
  /** Makes a wallet with exactly so many lamports, or changes how many it has. */
  setLamports(owner: string, lamports: bigint): Promise<void>
  /** Writes an account as it is, rent included: for accounts of programs that are not there. */
  setAccount(address: string, data: Uint8Array, program: PublicKey): Promise<void>
  /** Makes a mint with a supply of 0. */
  createMint(intent: MintIntent): Promise<SolanaMint>
  /**
   * Makes an empty token account.
   *
   * @param auxiliary - A name: makes a further account of the owner instead of the associated one.
   */
  createTokenAccount(mint: string, owner: string, auxiliary?: string): Promise<SolanaTokenAccount>
  /** Mints base units into an account. */
  mintTo(account: SolanaTokenAccount, amount: bigint): Promise<void>
  /** Moves base units; both accounts are of one mint. */
  transfer(from: SolanaTokenAccount, to: SolanaTokenAccount, amount: bigint): Promise<void>
  /** Freezes an account, which keeps its balance. */
  freeze(account: SolanaTokenAccount): Promise<void>
  /** Hands the rights to mint and to freeze over, as the Metaplex program does with an NFT. */
  giveAuthorityTo(mint: string, address: string): Promise<void>
}

/** A key that is the same on every run. @param name - Whose it is. */
export function devnetKeypair(name: string): Keypair {
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
  const world: SolanaWorld = { chainId, owners: {}, mints: {}, tokenAccounts: [], documents: new Map() }
  const rpc = createJsonRpc(rpcUrl)
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' })
  const payer = devnetKeypair(`payer ${keySeed}`)
  await writeLamports(rpcUrl, payer.publicKey.toBase58(), 1_000_000_000_000n)
  const keyOf = (kind: string, name: string) => devnetKeypair(`${kind} ${name} ${keySeed}`)
  const ownerKey = (name: string) => Keypair.fromSecretKey(solanaOwner(world, name).secretKey)
  const splOf = (mint: SolanaMint) => createSplInstructions(mint.program)

  async function send(instructions: TransactionInstruction[], signers: Keypair[] = []) {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
    const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight })
    transaction.add(...instructions).sign(payer, ...signers)
    const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
    const deadline = Date.now() + 10_000
    for (;;) {
      const status = (await connection.getSignatureStatuses([signature])).value[0]
      if (status?.err != null) {
        throw new DevnetError('NODE_REFUSED', `${signature} failed: ${JSON.stringify(status.err)}`)
      }
      if (status != null) return
      if (Date.now() > deadline) throw new DevnetError('NODE_REFUSED', `${signature} was never confirmed`)
      await new Promise(resolve => setTimeout(resolve, 2))
    }
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

  async function createMint({ label, program, decimals, kind, extension }: MintIntent): Promise<SolanaMint> {
    const key = keyOf('mint', label)
    const spl = createSplInstructions(program)
    const space = extension === undefined ? mintSize : mintWithPointerSize
    const authority = payer.publicKey
    const instructions = [
      SystemProgram.createAccount({
        ...{ fromPubkey: authority, newAccountPubkey: key.publicKey, space },
        // The metadata extension grows the account later: its rent is paid ahead.
        lamports: rent(space + (extension === undefined ? 0 : 1000)),
        programId: tokenPrograms[program]
      })
    ]
    if (extension !== undefined) instructions.push(spl.initializeMetadataPointer(key.publicKey, authority))
    instructions.push(spl.initializeMint2(key.publicKey, decimals, authority))
    if (extension !== undefined) {
      instructions.push(spl.initializeTokenMetadata(key.publicKey, authority, extension))
      for (const [name, value] of extension.additionalMetadata) {
        instructions.push(spl.updateMetadataField(key.publicKey, authority, name, value))
      }
    }
    await send(instructions, [key])
    const mint: SolanaMint = { label, address: key.publicKey.toBase58(), program, decimals, supply: 0n, kind }
    if (extension !== undefined) mint.extension = extension
    world.mints[label] = mint
    return mint
  }

  async function createTokenAccount(label: string, owner: string, auxiliary?: string) {
    const mint = solanaMint(world, label)
    const mintKey = new PublicKey(mint.address)
    const holder = ownerKey(owner).publicKey
    let address: PublicKey
    if (auxiliary === undefined) {
      address = associatedAddress(mint.program, holder, mintKey)
      await send([splOf(mint).createAssociated(payer.publicKey, holder, mintKey)])
    } else {
      const key = keyOf('account', auxiliary)
      address = key.publicKey
      const space = tokenAccountSize
      const created = SystemProgram.createAccount({
        ...{ fromPubkey: payer.publicKey, newAccountPubkey: address, space },
        ...{ lamports: rent(space), programId: tokenPrograms[mint.program] }
      })
      await send([created, splOf(mint).initializeAccount3(address, mintKey, holder)], [key])
    }
    const account: SolanaTokenAccount = {
      address: address.toBase58(),
      mint: label,
      owner,
      amount: 0n,
      state: 'initialized',
      isAssociated: auxiliary === undefined
    }
    world.tokenAccounts.push(account)
    return account
  }

  async function mintTo(account: SolanaTokenAccount, amount: bigint) {
    const mint = solanaMint(world, account.mint)
    if (mint.supply + amount > u64Max)
      throw new DevnetError('MISUSE', `the supply of ${mint.label} overflows`)
    const keys = [new PublicKey(mint.address), new PublicKey(account.address)] as const
    await send([splOf(mint).mintTo(...keys, payer.publicKey, amount)])
    mint.supply += amount
    account.amount += amount
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
    await send([splOf(mint).transferChecked(parties, amount, mint.decimals)], [owner])
    from.amount -= amount
    to.amount += amount
  }

  async function freeze(account: SolanaTokenAccount) {
    const mint = solanaMint(world, account.mint)
    const keys = [new PublicKey(account.address), new PublicKey(mint.address)] as const
    await send([splOf(mint).freezeAccount(...keys, payer.publicKey)])
    account.state = 'frozen'
  }

  async function giveAuthorityTo(label: string, address: string) {
    const mint = solanaMint(world, label)
    const [key, next] = [new PublicKey(mint.address), new PublicKey(address)]
    await send([
      splOf(mint).setAuthority(key, payer.publicKey, 0, next),
      splOf(mint).setAuthority(key, payer.publicKey, 1, next)
    ])
  }

  return {
    ...{ world, connection, rpc, payer: payer.publicKey, setLamports, setAccount },
    ...{ createMint, createTokenAccount, mintTo, transfer, freeze, giveAuthorityTo }
  }
}

/** Lamports that make an account of so many bytes rent-exempt: two years of rent, 128 bytes of overhead. */
function rent(bytes: number): number {
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
