import { createHash } from 'node:crypto'
import {
  type AddressLookupTableAccount,
  Connection,
  Keypair,
  type PublicKey,
  type TransactionInstruction
} from '@solana/web3.js'
import { DevnetError } from '../DevnetError.ts'
import { createJsonRpc, type JsonRpc } from '../platform/jsonRpc.ts'
import { createSolanaTokens, rent, type SolanaTokens } from './createSolanaTokens.ts'
import { createTransactionSender } from './createTransactionSender.ts'
import { noteTransaction, type SolanaIntent } from './noteTransaction.ts'
import type { SolanaTransaction, SolanaWorld } from './SolanaWorld.ts'
import { solanaOwner } from './solanaTruth.ts'

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
export interface SolanaDriver extends SolanaTokens {
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

  return {
    ...{ world, connection, rpc, payer: payer.publicKey, setLamports, setAccount },
    send: (instructions, owners = [], intent, options) =>
      sendSigned(instructions, owners.map(ownerKey), intent, options),
    addressOf: (kind, name) => keyOf(kind, name).publicKey.toBase58(),
    ...createSolanaTokens({ world, payer: payer.publicKey, keyOf, ownerKey, send: sendSigned })
  }
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
