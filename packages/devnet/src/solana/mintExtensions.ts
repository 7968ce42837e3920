import { createHash } from 'node:crypto'
import { type PublicKey, TransactionInstruction } from '@solana/web3.js'
import { createByteWriter } from './ByteWriter.ts'
import { tokenPrograms } from './splInstructions.ts'

/** One extension of a Token-2022 mint that is to be made by the program itself. */
export interface MintExtension {
  /** Bytes of its value, which have to be there before the mint is. 0 for one that the program makes room for. */
  size: number
  /** Run before the mint is initialised. */
  before?(mint: PublicKey, authority: PublicKey): TransactionInstruction
  /** Run after it. */
  after?(mint: PublicKey, authority: PublicKey): TransactionInstruction
}

/** Bytes that the type and the length of an extension take. */
const headerSize = 4
const accountTypeEnd = 166
const multisigSize = 355

/** Bytes of a mint with these extensions, before the program makes room for more. */
export function extendedMintSize(extensions: readonly MintExtension[]): number {
  const fixed = extensions.filter(({ before }) => before !== undefined)
  const size = fixed.reduce((sum, extension) => sum + headerSize + extension.size, accountTypeEnd)
  // No mint may be as long as a multisig, by which alone the program knows one.
  return size === multisigSize ? size + 2 : size
}

/** The extensions of a mint; every authority is the one that makes the mint. */
export const mintExtensions = {
  /** Each transfer leaves a fee in the receiving account. @param maximum - In base units. */
  transferFee: (basisPoints: number, maximum: bigint): MintExtension =>
    initialized(108, [26, 0], (writer, authority) =>
      writer.u8(1).key(authority).u8(1).key(authority).u16(basisPoints).u64(maximum)
    ),
  /** The mint may be closed once its supply is 0. */
  closeAuthority: (): MintExtension =>
    initialized(32, [25], (writer, authority) => writer.u8(1).key(authority)),
  /** Without an auditor; accounts are approved one by one. */
  confidentialTransfer: (): MintExtension =>
    initialized(65, [27, 0], (writer, authority) => writer.key(authority).bool(false).bytes(nobody)),
  /** New accounts are frozen. */
  frozenByDefault: (): MintExtension => initialized(1, [28, 0], writer => writer.u8(2)),
  /** Accounts cannot give the token away. */
  nonTransferable: (): MintExtension => initialized(0, [32], writer => writer),
  /** The authority may move and burn everybody's tokens. */
  permanentDelegate: (): MintExtension => initialized(32, [35], (writer, authority) => writer.key(authority)),
  /** Each transfer calls a program. */
  transferHook: (program: string): MintExtension =>
    initialized(64, [36, 0], (writer, authority) => writer.key(authority).key(program)),
  /** Says where the metadata is. @param to - Default the mint itself. */
  metadataPointer: (to?: string): MintExtension =>
    initialized(64, [39, 0], (writer, authority, mint) => writer.key(authority).key(to ?? mint)),
  /** Says that the mint itself describes a group. */
  groupPointer: (): MintExtension =>
    initialized(64, [40, 0], (writer, authority, mint) => writer.key(authority).key(mint)),
  /** Says that the mint itself describes a member of a group. */
  memberPointer: (): MintExtension =>
    initialized(64, [41, 0], (writer, authority, mint) => writer.key(authority).key(mint)),
  /** Amounts are shown multiplied. */
  scaledUiAmount: (multiplier: number): MintExtension =>
    initialized(56, [43, 0], (writer, authority) => writer.key(authority).bytes(f64(multiplier))),
  /** Changes what {@link mintExtensions.scaledUiAmount} has set. @param fromSeconds - In the future. */
  nextMultiplier: (multiplier: number, fromSeconds: number): MintExtension => ({
    size: 0,
    after: (mint, authority) =>
      instruction(
        [writable(mint), signer(authority)],
        createByteWriter().u8(43).u8(1).bytes(f64(multiplier)).u64(BigInt(fromSeconds)).finish()
      )
  }),
  /** The authority may stop all transfers. */
  pausable: (): MintExtension => initialized(33, [44, 0], (writer, authority) => writer.key(authority)),
  /** A group with room for 10 members; wants a pointer to itself. */
  group: (): MintExtension => ({
    size: 0,
    after: (mint, authority) =>
      instruction(
        [writable(mint), readable(mint), signer(authority)],
        createByteWriter()
          .bytes(groupDiscriminator('initialize_token_group'))
          .key(authority.toBase58())
          .u64(10n)
          .finish()
      )
  }),
  /** A member of a group of the same authority; wants a pointer to itself. */
  member: (group: PublicKey): MintExtension => ({
    size: 0,
    after: (mint, authority) =>
      instruction(
        [writable(mint), readable(mint), signer(authority), writable(group), signer(authority)],
        Buffer.from(groupDiscriminator('initialize_member'))
      )
  })
}

const nobody = new Uint8Array(32)

type Write = (
  writer: ReturnType<typeof createByteWriter>,
  authority: string,
  mint: string
) => ReturnType<typeof createByteWriter>

/** @param head - Number of the instruction, and of the one within the extension. */
function initialized(size: number, head: number[], write: Write): MintExtension {
  return {
    size,
    before: (mint, authority) =>
      instruction(
        [writable(mint)],
        write(createByteWriter().bytes(Uint8Array.from(head)), authority.toBase58(), mint.toBase58()).finish()
      )
  }
}

function instruction(keys: TransactionInstruction['keys'], data: Buffer): TransactionInstruction {
  return new TransactionInstruction({ programId: tokenPrograms['token-2022'], keys, data })
}

const writable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true })
const readable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false })
const signer = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: false })

function f64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

/** First bytes of an instruction of the token group interface. */
function groupDiscriminator(name: string): Uint8Array {
  return createHash('sha256').update(`spl_token_group_interface:${name}`).digest().subarray(0, 8)
}
