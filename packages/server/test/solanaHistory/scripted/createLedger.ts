import { type Instruction, run } from './instructions.ts'
import { addressNamed, MEMO, signatureNamed, toBase58 } from './names.ts'
import { give, type State, type TokenAccount } from './State.ts'

interface Reward {
  readonly pubkey: string
  readonly lamports: bigint
  readonly postBalance: bigint
  readonly rewardType: 'Staking' | 'Voting' | 'Fee' | 'Rent'
}

export interface LedgerTransaction {
  readonly signature: string
  readonly slot: number
  /** Within its block. */
  readonly index: number
  /** Every address that it names: static ones, then those from lookup tables. */
  readonly keys: readonly string[]
  readonly err: unknown
  /** As a list of signatures writes it. */
  readonly memo: string | null
  readonly version: 'legacy' | 0
  readonly meta: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
}

export interface LedgerBlock {
  readonly slot: number
  readonly parentSlot: number
  readonly blockTime: number
  readonly transactions: readonly LedgerTransaction[]
  readonly rewards: readonly Reward[]
}

/** A transaction to be added. */
interface Draft {
  readonly payer: string
  readonly instructions: readonly Instruction[]
  /** Addresses that a lookup table names, where they do not sign; makes it a transaction of version 0. */
  readonly loaded?: readonly string[] | undefined
  readonly fails?: boolean | undefined
}

/** A cluster's blocks, each of which follows from the ones before by what its transactions do. */
export interface Ledger {
  readonly state: State
  readonly blocks: readonly LedgerBlock[]
  /** Ends the newest block; the next transaction begins one at this slot. */
  beginBlock(slot: number): void
  add(draft: Draft): LedgerTransaction
  /** Moves lamports without a transaction, in the newest block. */
  reward(address: string, lamports: bigint, rewardType: Reward['rewardType']): void
}

interface OpenBlock extends LedgerBlock {
  transactions: LedgerTransaction[]
  rewards: Reward[]
}

const feeOfSignature = 5_000n

/** @param name - Part of every signature. @param wallets - Lamports at the beginning, by address. */
export function createLedger(name: string, wallets: ReadonlyMap<string, bigint>): Ledger {
  const state: State = { lamports: new Map(wallets), tokens: new Map() }
  const blocks: OpenBlock[] = []
  let count = 0

  function beginBlock(slot: number) {
    const parentSlot = blocks.at(-1)?.slot ?? 0
    blocks.push({ slot, parentSlot, blockTime: 1_700_000_000 + slot, transactions: [], rewards: [] })
  }

  function add({ payer, instructions, loaded = [], fails = false }: Draft): LedgerTransaction {
    const block = blocks.at(-1)
    if (block === undefined) throw new RangeError('no block was begun')
    const { keys, signers, tables } = placeKeys(payer, instructions, loaded)
    const before = balancesOf(state, keys)
    const fee = feeOfSignature * BigInt(signers.length)
    give(state, payer, -fee)
    if (!fails) for (const instruction of instructions) run(state, instruction)
    const after = balancesOf(state, keys)
    const err = fails ? { InstructionError: [instructions.length - 1, { Custom: 1 }] } : null
    const index = block.transactions.length
    const at = (address: string) => keys.indexOf(address)
    const compile = ({ program, accounts, data }: Instruction, stackHeight: number) => ({
      ...{ programIdIndex: at(program), accounts: accounts.map(at), data: toBase58(data), stackHeight }
    })
    const transaction: LedgerTransaction = {
      ...{ signature: signatureNamed(`${name} ${count++}`), slot: block.slot, index, keys, err },
      memo: memoOf(instructions),
      version: tables.isUsed ? 0 : 'legacy',
      meta: {
        ...{ err, status: fails ? { Err: err } : { Ok: null }, fee },
        ...{ preBalances: before.lamports, postBalances: after.lamports },
        ...{ preTokenBalances: before.tokens, postTokenBalances: after.tokens },
        innerInstructions: fails
          ? []
          : instructions.flatMap(({ inner }, position) =>
              inner === undefined
                ? []
                : [
                    {
                      index: position,
                      instructions: flatten(inner, 2).map(([each, depth]) => compile(each, depth))
                    }
                  ]
            ),
        loadedAddresses: { writable: tables.writable, readonly: tables.readonly },
        ...{ logMessages: [], rewards: [], computeUnitsConsumed: 150 }
      },
      message: {
        accountKeys: keys.slice(0, keys.length - tables.writable.length - tables.readonly.length),
        header: {
          numRequiredSignatures: signers.length,
          ...{ numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 }
        },
        instructions: instructions.map(each => compile(each, 1)),
        recentBlockhash: addressNamed(`block ${block.parentSlot}`),
        ...(tables.isUsed && {
          addressTableLookups: [
            {
              accountKey: addressNamed('lookup table'),
              writableIndexes: tables.writable.map((_, position) => position),
              readonlyIndexes: tables.readonly.map((_, position) => tables.writable.length + position)
            }
          ]
        })
      }
    }
    block.transactions.push(transaction)
    return transaction
  }

  return {
    ...{ state, blocks, beginBlock, add },
    reward(address, lamports, rewardType) {
      give(state, address, lamports)
      const postBalance = state.lamports.get(address) ?? 0n
      blocks.at(-1)?.rewards.push({ pubkey: address, lamports, postBalance, rewardType })
    }
  }
}

/** Signers, then other accounts, then programs, then what lookup tables give: writable accounts before others. */
function placeKeys(payer: string, instructions: readonly Instruction[], loaded: readonly string[]) {
  const all = flatten(instructions, 1).map(([instruction]) => instruction)
  const programs = new Set(all.map(({ program }) => program))
  const outer = instructions.flatMap(each => each.signers)
  const signers = [...new Set([payer, ...outer])]
  const others = [...new Set(all.flatMap(({ accounts }) => accounts))].filter(
    key => !signers.includes(key) && !programs.has(key)
  )
  const fromTable = others.filter(key => loaded.includes(key))
  const half = Math.ceil(fromTable.length / 2)
  const tables = {
    isUsed: fromTable.length > 0,
    writable: fromTable.slice(0, half),
    readonly: fromTable.slice(half)
  }
  const fixed = others.filter(key => !loaded.includes(key))
  return {
    keys: [...signers, ...fixed, ...programs, ...tables.writable, ...tables.readonly],
    signers,
    tables
  }
}

function flatten(instructions: readonly Instruction[], depth: number): [Instruction, number][] {
  return instructions.flatMap(each => [
    [each, depth] as [Instruction, number],
    ...flatten(each.inner ?? [], depth + 1)
  ])
}

function balancesOf({ lamports, tokens }: State, keys: readonly string[]) {
  return {
    lamports: keys.map(key => lamports.get(key) ?? 0n),
    tokens: keys.flatMap((key, accountIndex) => {
      const account = tokens.get(key)
      return account === undefined ? [] : [tokenBalance(account, accountIndex)]
    })
  }
}

function tokenBalance({ mint, owner, amount }: TokenAccount, accountIndex: number) {
  const { address, decimals, program } = mint
  const whole = Number(amount) / 10 ** decimals
  const uiTokenAmount = { amount: String(amount), decimals, uiAmount: whole, uiAmountString: String(whole) }
  return { accountIndex, mint: address, owner, programId: program, uiTokenAmount }
}

function memoOf(instructions: readonly Instruction[]): string | null {
  const memos = instructions.filter(({ program }) => program === MEMO).map(({ data }) => data)
  if (memos.length === 0) return null
  return memos.map(data => `[${data.length}] ${Buffer.from(data).toString()}`).join('; ')
}
