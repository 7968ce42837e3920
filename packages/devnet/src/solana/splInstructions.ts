import { createHash } from 'node:crypto'
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { createByteWriter } from './ByteWriter.ts'

/** The two token programs by the names used here. */
export const tokenPrograms = {
  'spl-token': new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  'token-2022': new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
} as const

/** Name of a token program. */
export type TokenProgramName = keyof typeof tokenPrograms

const associatedTokenProgram = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** Bytes of a mint and of a token account without extensions. */
export const mintSize = 82
export const tokenAccountSize = 165

/** Where the token account of an owner stands by convention. */
export function associatedAddress(program: TokenProgramName, owner: PublicKey, mint: PublicKey): PublicKey {
  const seeds = [owner.toBytes(), tokenPrograms[program].toBytes(), mint.toBytes()]
  return PublicKey.findProgramAddressSync(seeds, associatedTokenProgram)[0]
}

/** Instructions of one token program. Names are those of the program. */
export function createSplInstructions(name: TokenProgramName) {
  const programId = tokenPrograms[name]
  const instruction = (keys: string, accounts: PublicKey[], data: Buffer) =>
    new TransactionInstruction({ programId, keys: accounts.map((key, i) => meta(key, keys[i] ?? 'r')), data })

  return {
    initializeMint2: (mint: PublicKey, decimals: number, authority: PublicKey) => {
      const key = authority.toBase58()
      const data = createByteWriter().u8(20).u8(decimals).key(key).u8(1).key(key).finish()
      return instruction('w', [mint], data)
    },
    initializeAccount3: (account: PublicKey, mint: PublicKey, owner: PublicKey) =>
      instruction('wr', [account, mint], createByteWriter().u8(18).key(owner.toBase58()).finish()),
    createAssociated: (payer: PublicKey, owner: PublicKey, mint: PublicKey) =>
      new TransactionInstruction({
        programId: associatedTokenProgram,
        keys: [
          { pubkey: payer, isSigner: true, isWritable: true },
          meta(associatedAddress(name, owner, mint), 'w'),
          ...[owner, mint, SystemProgram.programId, programId].map(key => meta(key, 'r'))
        ],
        data: Buffer.from([1])
      }),
    mintTo: (mint: PublicKey, account: PublicKey, authority: PublicKey, amount: bigint) =>
      instruction('wws', [mint, account, authority], createByteWriter().u8(7).u64(amount).finish()),
    transferChecked: (
      transfer: { from: PublicKey; mint: PublicKey; to: PublicKey; owner: PublicKey },
      amount: bigint,
      decimals: number
    ) =>
      instruction(
        'wrws',
        [transfer.from, transfer.mint, transfer.to, transfer.owner],
        createByteWriter().u8(12).u64(amount).u8(decimals).finish()
      ),
    /** @param what - 0 the right to mint, 1 the right to freeze, 2 the ownership of a token account. */
    setAuthority: (subject: PublicKey, current: PublicKey, what: 0 | 1 | 2, next: PublicKey) =>
      instruction(
        'ws',
        [subject, current],
        createByteWriter().u8(6).u8(what).u8(1).key(next.toBase58()).finish()
      ),
    /** @param to - Receives the account's lamports. */
    closeAccount: (account: PublicKey, to: PublicKey, owner: PublicKey) =>
      instruction('wws', [account, to, owner], Buffer.from([9])),
    approve: (account: PublicKey, delegate: PublicKey, owner: PublicKey, amount: bigint) =>
      instruction('wrs', [account, delegate, owner], createByteWriter().u8(4).u64(amount).finish()),
    thawAccount: (account: PublicKey, mint: PublicKey, authority: PublicKey) =>
      instruction('wrs', [account, mint, authority], Buffer.from([11])),
    /** Takes note of lamports that were sent to an account of wrapped SOL. */
    syncNative: (account: PublicKey) => instruction('w', [account], Buffer.from([17])),
    /** Makes room for extensions of an account. @param types - Their numbers. */
    reallocate: (account: PublicKey, payer: PublicKey, owner: PublicKey, types: number[]) => {
      const writer = createByteWriter().u8(29)
      for (const type of types) writer.u16(type)
      return instruction('wSrs', [account, payer, SystemProgram.programId, owner], writer.finish())
    },
    /** @param what - 30 a memo is required of whoever sends here, 34 other programs may not move it. */
    guardAccount: (account: PublicKey, owner: PublicKey, what: 30 | 34) =>
      instruction('ws', [account, owner], Buffer.from([what, 0])),
    /** Stops a mint that can be paused. */
    pause: (mint: PublicKey, authority: PublicKey) =>
      instruction('ws', [mint, authority], Buffer.from([44, 1])),
    freezeAccount: (account: PublicKey, mint: PublicKey, authority: PublicKey) =>
      instruction('wrs', [account, mint, authority], Buffer.from([10])),
    initializeTokenMetadata: (
      mint: PublicKey,
      authority: PublicKey,
      { name, symbol, uri }: { name: string; symbol: string; uri: string }
    ) =>
      instruction(
        'wrrs',
        [mint, authority, mint, authority],
        createByteWriter()
          .bytes(discriminator('initialize_account'))
          .string(name)
          .string(symbol)
          .string(uri)
          .finish()
      ),
    updateMetadataField: (mint: PublicKey, authority: PublicKey, key: string, value: string) =>
      instruction(
        'ws',
        [mint, authority],
        createByteWriter().bytes(discriminator('updating_field')).u8(3).string(key).string(value).finish()
      )
  }
}

/** First bytes of an instruction of the token metadata interface. */
function discriminator(name: string): Uint8Array {
  return createHash('sha256').update(`spl_token_metadata_interface:${name}`).digest().subarray(0, 8)
}

/** `w` writable, `s` signer, `S` both, anything else read only. */
function meta(pubkey: PublicKey, access: string) {
  return { pubkey, isSigner: /s/i.test(access), isWritable: /[wS]/.test(access) }
}
