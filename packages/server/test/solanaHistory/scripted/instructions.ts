import { ASSOCIATED, fromBase58, MEMO, SYSTEM, TOKEN, WRAPPED_SOL } from './names.ts'
import { ACCOUNT_RENT, type Mint, pay, type State, tokenAccount } from './State.ts'

/** One instruction: as it stands in a message, and what its program does. */
export interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly signers: readonly string[]
  readonly data: Uint8Array
  readonly inner?: readonly Instruction[]
  /** As the node writes it for `jsonParsed`; absent where it knows no parser. */
  readonly parsed?: { readonly type: string; readonly info: Readonly<Record<string, unknown>> }
  /** Where it has inner instructions, it does not repeat what they do. */
  apply(state: State): void
}

const nothing = () => {}
const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
const bytes = (...parts: (number | Uint8Array)[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'number' ? Buffer.from([part]) : part)))

export function transferSol(source: string, destination: string, lamports: bigint): Instruction {
  return {
    ...{ program: SYSTEM, accounts: [source, destination], signers: [source] },
    data: bytes(2, 0, 0, 0, u64(lamports)),
    parsed: { type: 'transfer', info: { source, destination, lamports } },
    apply: state => pay(state, source, destination, lamports)
  }
}

function createSystemAccount(payer: string, account: string, program: string): Instruction {
  return {
    ...{ program: SYSTEM, accounts: [payer, account], signers: [payer, account] },
    data: bytes(0, 0, 0, 0, u64(ACCOUNT_RENT), u64(165n), fromBase58(program)),
    parsed: {
      type: 'createAccount',
      info: { source: payer, newAccount: account, lamports: ACCOUNT_RENT, space: 165, owner: program }
    },
    apply: state => pay(state, payer, account, ACCOUNT_RENT)
  }
}

/** The three instructions by which a token account gets its owner; only the first names the owner as an account. */
export type Initializer = 1 | 16 | 18

function initializeAccount(kind: Initializer, account: string, mint: Mint, owner: string): Instruction {
  const rent = 'SysvarRent111111111111111111111111111111111'
  const accounts = {
    1: [account, mint.address, owner, rent],
    16: [account, mint.address, rent],
    18: [account, mint.address]
  }
  const type = { 1: 'initializeAccount', 16: 'initializeAccount2', 18: 'initializeAccount3' }[kind]
  return {
    ...{ program: mint.program, accounts: accounts[kind], signers: [] },
    data: kind === 1 ? bytes(1) : bytes(kind, fromBase58(owner)),
    parsed: { type, info: { account, mint: mint.address, owner } },
    apply: state => {
      const amount = mint.address === WRAPPED_SOL ? state.lamports.get(account)! - ACCOUNT_RENT : 0n
      state.tokens.set(account, { address: account, mint, owner, amount })
    }
  }
}

/** An account of any address, signed for by its key. */
export function openAccount(
  payer: string,
  account: string,
  mint: Mint,
  owner: string,
  kind: Initializer
): readonly Instruction[] {
  return [createSystemAccount(payer, account, mint.program), initializeAccount(kind, account, mint, owner)]
}

/** An account at the associated address: names its owner. */
export function openAssociated(payer: string, account: string, mint: Mint, owner: string): Instruction {
  return {
    program: ASSOCIATED,
    accounts: [payer, account, owner, mint.address, SYSTEM, mint.program],
    signers: [payer],
    data: bytes(0),
    parsed: {
      type: 'create',
      info: {
        account,
        mint: mint.address,
        source: payer,
        systemProgram: SYSTEM,
        tokenProgram: mint.program,
        wallet: owner
      }
    },
    inner: openAccount(payer, account, mint, owner, 18),
    apply: nothing
  }
}

/** What arrives of a transfer. */
const afterFee = ({ feeBasisPoints }: Mint, amount: bigint) =>
  amount - (amount * feeBasisPoints + 9_999n) / 10_000n

export function transferTokens(
  from: string,
  to: string,
  mint: Mint,
  authority: string,
  amount: bigint
): Instruction {
  const tokenAmount = { amount: String(amount), decimals: mint.decimals }
  return {
    program: mint.program,
    accounts: [from, mint.address, to, authority],
    signers: [authority],
    data: bytes(12, u64(amount), mint.decimals),
    parsed: {
      type: 'transferChecked',
      info: { source: from, destination: to, mint: mint.address, authority, tokenAmount }
    },
    apply: state => {
      tokenAccount(state, from).amount -= amount
      tokenAccount(state, to).amount += afterFee(mint, amount)
      if (mint.address === WRAPPED_SOL) pay(state, from, to, amount)
    }
  }
}

export function mintTokens(account: string, mint: Mint, authority: string, amount: bigint): Instruction {
  return {
    ...{ program: mint.program, accounts: [mint.address, account, authority], signers: [authority] },
    data: bytes(7, u64(amount)),
    parsed: {
      type: 'mintTo',
      info: { mint: mint.address, account, mintAuthority: authority, amount: String(amount) }
    },
    apply: state => {
      tokenAccount(state, account).amount += amount
    }
  }
}

export function burnTokens(account: string, mint: Mint, authority: string, amount: bigint): Instruction {
  return {
    ...{ program: mint.program, accounts: [account, mint.address, authority], signers: [authority] },
    data: bytes(8, u64(amount)),
    parsed: { type: 'burn', info: { account, mint: mint.address, authority, amount: String(amount) } },
    apply: state => {
      tokenAccount(state, account).amount -= amount
    }
  }
}

export function approve(account: string, mint: Mint, owner: string, delegate: string): Instruction {
  return {
    ...{ program: mint.program, accounts: [account, delegate, owner], signers: [owner] },
    data: bytes(4, u64(2n ** 63n)),
    parsed: { type: 'approve', info: { source: account, delegate, owner, amount: String(2n ** 63n) } },
    apply: state => {
      tokenAccount(state, account).delegate = delegate
    }
  }
}

/** @param what - 2 the account's owner, 3 who may close it. */
export function setAuthority(
  account: string,
  mint: Mint,
  owner: string,
  what: 2 | 3,
  next: string
): Instruction {
  return {
    ...{ program: mint.program, accounts: [account, owner], signers: [owner] },
    data: bytes(6, what, 1, fromBase58(next)),
    parsed: {
      type: 'setAuthority',
      info: {
        ...{ account, authority: owner, newAuthority: next },
        authorityType: what === 2 ? 'accountOwner' : 'closeAccount'
      }
    },
    apply: state => {
      const given = tokenAccount(state, account)
      if (what === 3) given.closeAuthority = { address: next, givenBy: owner }
      else {
        given.owner = next
        given.delegate = undefined
      }
    }
  }
}

export function closeAccount(account: string, mint: Mint, to: string, authority: string): Instruction {
  return {
    ...{ program: mint.program, accounts: [account, to, authority], signers: [authority] },
    data: bytes(9),
    parsed: { type: 'closeAccount', info: { account, destination: to, owner: authority } },
    apply: state => {
      pay(state, account, to, state.lamports.get(account)!)
      state.tokens.delete(account)
    }
  }
}

/** Takes note of lamports that were sent to an account of wrapped SOL. */
export function syncNative(account: string): Instruction {
  return {
    ...{ program: TOKEN, accounts: [account], signers: [], data: bytes(17) },
    parsed: { type: 'syncNative', info: { account } },
    apply: state => {
      tokenAccount(state, account).amount = state.lamports.get(account)! - ACCOUNT_RENT
    }
  }
}

export function memo(text: string, signer?: string): Instruction {
  const signers = signer === undefined ? [] : [signer]
  return { program: MEMO, accounts: signers, signers, data: Buffer.from(text), apply: nothing }
}

/** A program that calls others, as an exchange does. */
export function callProgram(program: string, inner: readonly Instruction[]): Instruction {
  const accounts = [...new Set(inner.flatMap(each => [...each.accounts, each.program]))]
  const signers = [...new Set(inner.flatMap(each => each.signers))]
  return { program, accounts, signers, data: bytes(200, 1), inner, apply: nothing }
}

/** Names accounts and does nothing to them. */
export function nameAccounts(program: string, accounts: readonly string[]): Instruction {
  return { program, accounts, signers: [], data: bytes(0), apply: nothing }
}

/** Runs an instruction, what it calls first. */
export function run(state: State, instruction: Instruction): void {
  for (const each of instruction.inner ?? []) run(state, each)
  instruction.apply(state)
}
