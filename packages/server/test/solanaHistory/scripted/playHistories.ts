import { createRandom, type Random } from '../../../../devnet/src/platform/createRandom.ts'
import { createLedger, type Ledger } from './createLedger.ts'
import {
  approve,
  burnTokens,
  callProgram,
  closeAccount,
  type Initializer,
  type Instruction,
  memo,
  mintTokens,
  nameAccounts,
  openAccount,
  openAssociated,
  setAuthority,
  syncNative,
  transferSol,
  transferTokens
} from './instructions.ts'
import { addressNamed, TOKEN, TOKEN_2022, WRAPPED_SOL } from './names.ts'
import type { Mint, TokenAccount } from './State.ts'

export interface PlayedHistories {
  readonly ledger: Ledger
  /** Whose histories these are. */
  readonly wallets: readonly string[]
}

/** What one transaction is to do, and who pays for it. */
interface Deed {
  readonly payer: string
  readonly instructions: readonly Instruction[]
}

const mints: readonly [Mint, ...Mint[]] = [
  { address: addressNamed('coin'), program: TOKEN, decimals: 6, feeBasisPoints: 0n },
  { address: addressNamed('piece'), program: TOKEN, decimals: 0, feeBasisPoints: 0n },
  { address: addressNamed('tolled'), program: TOKEN_2022, decimals: 2, feeBasisPoints: 125n },
  { address: addressNamed('plain 2022'), program: TOKEN_2022, decimals: 9, feeBasisPoints: 0n }
]
const wrapped: Mint = { address: WRAPPED_SOL, program: TOKEN, decimals: 9, feeBasisPoints: 0n }
const issuer = addressNamed('issuer')
const exchange = addressNamed('exchange program')

/**
 * A ledger in which wallets do everything that a history has to find, at random.
 *
 * @param seed - Gives the same ledger each time.
 * @param size - Number of wallets and of transactions.
 */
export function playHistories(
  seed: number,
  size: { wallets: number; transactions: number }
): PlayedHistories {
  const random = createRandom(seed)
  const wallets = Array.from({ length: size.wallets }, (_, at) => addressNamed(`wallet ${seed} ${at}`))
  const ledger = createLedger(`histories ${seed}`, new Map([[issuer, 10n ** 16n]]))
  const draw = createDeeds(ledger, random, wallets, seed)
  let slot = 1 + random.below(5)
  ledger.beginBlock(slot)
  for (const wallet of wallets) {
    ledger.add({ payer: issuer, instructions: [transferSol(issuer, wallet, 10n ** 12n)] })
  }
  for (let played = 0; played < size.transactions; ) {
    // Several transactions in a block, blocks without any, slots without a block.
    for (; random.below(3) === 0; ledger.beginBlock(slot)) slot += 1 + random.below(3)
    const deed = draw()
    if (deed === undefined) continue
    const instructions = [...deed.instructions]
    if (random.below(8) === 0)
      instructions.push(memo(`note ${played} "ü"`, random.below(2) === 0 ? deed.payer : undefined))
    const named = instructions.flatMap(({ accounts }) => accounts)
    const loaded = random.below(4) === 0 ? named.filter(() => random.below(3) > 0) : undefined
    ledger.add({ payer: deed.payer, instructions, loaded, fails: random.below(9) === 0 })
    played++
  }
  ledger.beginBlock(slot + 1)
  return { ledger, wallets }
}

function createDeeds({ state }: Ledger, random: Random, wallets: readonly string[], seed: number) {
  let made = 0
  const wallet = () => random.pick(wallets as [string, ...string[]])
  const accounts = (fits: (account: TokenAccount) => boolean) => [...state.tokens.values()].filter(fits)
  const one = <T>(list: readonly T[]) => (list.length === 0 ? undefined : list[random.below(list.length)])
  const partOf = (amount: bigint) => (amount * BigInt(1 + random.below(100))) / 100n
  const associated = (owner: string, { address }: Mint) => addressNamed(`associated ${owner} ${address}`)

  function open(): Deed {
    const owner = wallet()
    const payer = random.below(2) === 0 ? owner : wallet()
    const mint = random.pick(mints)
    const account = associated(owner, mint)
    if (!state.tokens.has(account))
      return { payer, instructions: [openAssociated(payer, account, mint, owner)] }
    const kind: Initializer = random.pick([1, 16, 18])
    return {
      payer,
      instructions: openAccount(payer, addressNamed(`auxiliary ${seed} ${made++}`), mint, owner, kind)
    }
  }

  function issue(): Deed | undefined {
    const to = one(accounts(({ mint }) => mint !== wrapped))
    const amount = random.below(6) === 0 ? 2n ** 61n : BigInt(1 + random.below(1_000_000))
    if (to === undefined || to.amount + amount >= 2n ** 63n) return undefined
    return { payer: issuer, instructions: [mintTokens(to.address, to.mint, issuer, amount)] }
  }

  /** Also between accounts of one owner, and by a delegate, who pays. */
  function transfer(): Deed | undefined {
    const from = one(accounts(({ amount }) => amount > 0n))
    const to = from && one(accounts(({ mint, address }) => mint === from.mint && address !== from.address))
    if (from === undefined || to === undefined) return undefined
    const amount = partOf(from.amount)
    if (amount === 0n || to.amount + amount >= 2n ** 63n) return undefined
    const authority = from.delegate !== undefined && random.below(2) === 0 ? from.delegate : from.owner
    const payer = random.below(5) === 0 ? issuer : authority
    const instruction = transferTokens(from.address, to.address, from.mint, authority, amount)
    return {
      payer,
      instructions: [random.below(4) === 0 ? callProgram(exchange, [instruction]) : instruction]
    }
  }

  function ownerActs(): Deed | undefined {
    const account = one(accounts(({ mint }) => mint !== wrapped))
    if (account === undefined) return undefined
    const { address, mint, owner, amount } = account
    const deeds = [
      () => approve(address, mint, owner, wallet()),
      () => burnTokens(address, mint, owner, partOf(amount)),
      () => setAuthority(address, mint, owner, 2, wallet()),
      () => setAuthority(address, mint, owner, 3, wallet())
    ] as const
    return { payer: random.below(3) === 0 ? issuer : owner, instructions: [random.pick(deeds)()] }
  }

  /** With what is left in it moved away or burnt first; by whoever may close it, and to whomever. */
  function close(): Deed | undefined {
    const account = one(accounts(() => true))
    if (account === undefined) return undefined
    const { address, mint, owner, amount, closeAuthority } = account
    if (mint === wrapped) return { payer: owner, instructions: [closeAccount(address, mint, owner, owner)] }
    // An account that came and went without its owner being named beside it is in no list of his.
    if (closeAuthority !== undefined && (amount > 0n || closeAuthority.givenBy !== owner)) return undefined
    const empty = amount > 0n ? [burnTokens(address, mint, owner, amount)] : []
    const by = closeAuthority?.address ?? owner
    return { payer: by, instructions: [...empty, closeAccount(address, mint, wallet(), by)] }
  }

  function wrap(): Deed | undefined {
    const owner = wallet()
    const at = associated(owner, wrapped)
    const lamports = BigInt(1 + random.below(1_000_000_000))
    const pay = [transferSol(owner, at, lamports), syncNative(at)]
    if (state.tokens.has(at)) return { payer: owner, instructions: pay }
    const opened = [openAssociated(owner, at, wrapped, owner), ...pay]
    if (random.below(2) === 0) return { payer: owner, instructions: opened }
    return { payer: owner, instructions: [...opened, closeAccount(at, wrapped, owner, owner)] }
  }

  function paySol(): Deed {
    const [from, to] = [wallet(), wallet()]
    const lamports = BigInt(1 + random.below(1_000_000))
    return { payer: random.below(4) === 0 ? issuer : from, instructions: [transferSol(from, to, lamports)] }
  }

  /** Names an account that is closed by then, or one of somebody else's, and changes nothing. */
  function name(): Deed {
    const named = [
      wallet(),
      associated(wallet(), random.pick(mints)),
      addressNamed(`auxiliary ${seed} ${random.below(made + 1)}`)
    ]
    return { payer: issuer, instructions: [nameAccounts(exchange, named.slice(random.below(3)))] }
  }

  const deeds = [
    open,
    open,
    issue,
    issue,
    transfer,
    transfer,
    transfer,
    ownerActs,
    close,
    wrap,
    paySol,
    name
  ] as const
  return () => random.pick(deeds)()
}
