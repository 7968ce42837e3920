import {
  type AddressLookupTableAccount,
  type Connection,
  type Keypair,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction
} from '@solana/web3.js'
import { DevnetError } from '../DevnetError.ts'

/** A transaction to be sent. */
export interface Unsent {
  instructions: TransactionInstruction[]
  feePayer: Keypair
  /** Those who sign beside the fee payer. */
  signers: Keypair[]
  /** Makes it a transaction of version 0, which takes what it can from this table. */
  lookupTable?: AddressLookupTableAccount
  /** It is meant to fail, fee and all. */
  fails?: true
}

/** A transaction that a block has. */
export interface Sent {
  signature: string
  /** In lamports. */
  fee: bigint
  /** Every address that it names: the static ones, then those from the table. */
  addresses: string[]
  loaded: string[]
}

const lamportsPerSignature = 5_000n

/** @returns Sends one transaction and resolves when the node has it in a block. */
export function createTransactionSender(connection: Connection) {
  return async ({ instructions, feePayer, signers, lookupTable, fails }: Unsent): Promise<Sent> => {
    const { blockhash: recentBlockhash } = await connection.getLatestBlockhash()
    const draft = new TransactionMessage({ payerKey: feePayer.publicKey, recentBlockhash, instructions })
    const message =
      lookupTable === undefined ? draft.compileToLegacyMessage() : draft.compileToV0Message([lookupTable])
    const transaction = new VersionedTransaction(message)
    transaction.sign([feePayer, ...signers.filter(key => key !== feePayer)])
    const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
    await confirm(connection, signature, fails === true)
    const keys = message.getAccountKeys(
      lookupTable === undefined ? {} : { addressLookupTableAccounts: [lookupTable] }
    )
    const { writable = [], readonly = [] } = keys.accountKeysFromLookups ?? {}
    const loaded = [...writable, ...readonly].map(key => key.toBase58())
    return {
      signature,
      fee: lamportsPerSignature * BigInt(message.header.numRequiredSignatures),
      addresses: [...keys.staticAccountKeys.map(key => key.toBase58()), ...loaded],
      loaded
    }
  }
}

async function confirm(connection: Connection, signature: string, fails: boolean) {
  const deadline = Date.now() + 10_000
  for (;;) {
    const status = (await connection.getSignatureStatuses([signature])).value[0]
    if (status != null) {
      if ((status.err !== null) === fails) return
      const outcome = fails ? 'succeeded, and was meant to fail' : `failed: ${JSON.stringify(status.err)}`
      throw new DevnetError('NODE_REFUSED', `${signature} ${outcome}`)
    }
    if (Date.now() > deadline) throw new DevnetError('NODE_REFUSED', `${signature} was never confirmed`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}
