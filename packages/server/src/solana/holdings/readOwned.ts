import type { SolanaCallOptions } from '../../nodes/solana/nodes.ts'
import type { AtSlot } from '../../nodes/solana/readAnswers.ts'
import type { SolanaRpc } from '../../nodes/solana/rpc.ts'
import { NATIVE_MINTS, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import {
  type OwnedTokenAccount,
  readTokenAccounts,
  type TokenAccountsOfOwner
} from '../accounts/tokenAccount.ts'
import type { MetadataAddresses } from './metadataAddresses.ts'
import { type Asset, readAssets } from './readAssets.ts'

/** The holdings of an account in the token programs, as the node's accounts say it. */
interface Owned {
  readonly lamports: bigint
  /** With a balance; in no order. */
  readonly accounts: readonly OwnedTokenAccount[]
  /** One entry per mint of `accounts`. */
  readonly assets: ReadonlyMap<string, Asset>
  /** Token accounts whose balance is unknown: bytes that were refused, or more than there is of the mint. */
  readonly refused: readonly string[]
  /** Nothing here is older. */
  readonly oldestSlot: number
}

interface OwnedReaderOptions {
  readonly rpc: SolanaRpc
  readonly metadataAddresses: MetadataAddresses
  /** Calls for mints in flight. */
  readonly maxConcurrentCalls: number
}

const MAX_READS = 3

/**
 * Reads balance and token accounts at one slot where the cluster lets it ({@link readTogether}), then the mints, none
 * of them older. What changes in between may make the two contradict each other: more of a mint in the accounts than
 * there is of it. Then all is read again, not older than what was seen; after three times the accounts in question are
 * named as refused.
 *
 * @throws whatever {@link SolanaRpc} throws.
 * @remarks 3 calls, one per 50 mints, and one more for each 50 of which some keep their metadata elsewhere.
 */
export async function readOwned(
  options: OwnedReaderOptions,
  owner: string,
  callOptions: SolanaCallOptions
): Promise<Owned> {
  let notBefore: number | undefined
  for (let reads = 1; ; reads++) {
    const { newestSlot, ...owned } = await readOnce(options, owner, callOptions, notBefore)
    const torn = findTornMints(owned.accounts, owned.assets)
    if (torn.size === 0) return owned
    if (reads === MAX_READS) return withoutMints(owned, torn)
    notBefore = newestSlot
  }
}

async function readOnce(
  { rpc, metadataAddresses, maxConcurrentCalls }: OwnedReaderOptions,
  owner: string,
  callOptions: SolanaCallOptions,
  notBefore: number | undefined
): Promise<Owned & { readonly newestSlot: number }> {
  const accountsOf = (programId: string) => (minContextSlot?: number) =>
    readTokenAccounts(rpc, owner, programId, { ...callOptions, minContextSlot })
  const { values, oldestSlot, newestSlot } = await readTogether<
    [bigint, TokenAccountsOfOwner, TokenAccountsOfOwner]
  >(
    [
      minContextSlot => rpc.getBalance(owner, { ...callOptions, minContextSlot }),
      accountsOf(TOKEN_PROGRAM),
      accountsOf(TOKEN_2022_PROGRAM)
    ],
    notBefore
  )
  const [lamports, ...parts] = values
  const accounts = parts.flatMap(part => part.accounts)
  const programOf = new Map(accounts.map(({ mint, programId }) => [mint, programId]))
  const refs = [...programOf].map(([mint, programId]) => ({ mint, programId }))
  const read = await readAssets(
    rpc,
    refs,
    { metadataAddresses, maxConcurrentCalls },
    { ...callOptions, minContextSlot: newestSlot }
  )
  return {
    lamports,
    accounts,
    assets: read.assets,
    refused: parts.flatMap(part => part.refused),
    oldestSlot,
    newestSlot: Math.max(newestSlot, read.newestSlot)
  }
}

/** Mints of which the accounts hold more than there is, so that the two were read before and after a change. */
function findTornMints(
  accounts: readonly OwnedTokenAccount[],
  assets: ReadonlyMap<string, Asset>
): ReadonlySet<string> {
  const held = new Map<string, bigint>()
  for (const { mint, amount } of accounts) held.set(mint, (held.get(mint) ?? 0n) + amount)
  const torn = new Set<string>()
  for (const [mint, amount] of held) {
    const supply = assets.get(mint)?.supply
    // Wrapped SOL is not counted by its mint: the supply stays 0.
    if (supply !== undefined && amount > supply && !NATIVE_MINTS.has(mint)) torn.add(mint)
  }
  return torn
}

function withoutMints(owned: Owned, mints: ReadonlySet<string>): Owned {
  const isTorn = ({ mint }: OwnedTokenAccount) => mints.has(mint)
  return {
    ...owned,
    accounts: owned.accounts.filter(account => !isTorn(account)),
    assets: new Map([...owned.assets].filter(([mint]) => !mints.has(mint))),
    refused: [...owned.refused, ...owned.accounts.filter(isTorn).map(({ address }) => address)]
  }
}

/** Questions whose answers belong together; each is given how old its answer may be at most. */
type Questions<T extends readonly unknown[]> = {
  readonly [K in keyof T]: (minContextSlot: number | undefined) => Promise<AtSlot<T[K]>>
}

/** Answers of one slot, or of as few slots as the node would give. */
interface Together<T extends readonly unknown[]> {
  readonly values: T
  readonly oldestSlot: number
  readonly newestSlot: number
}

const MAX_ROUNDS = 3

/**
 * Asks several questions about one moment. A node answers each call at the slot it is at, and no call can ask for a
 * past one; so all are asked at once, and those that came from an older slot than the newest are asked again. That
 * usually ends in the first round. A cluster that moves on between any two calls ends it after three, and the slots
 * then show how far apart the answers are.
 *
 * @param notBefore - what the first round asks for already; absent: any slot will do.
 * @throws whatever a question throws; then no other one is asked again.
 */
export async function readTogether<T extends readonly unknown[]>(
  questions: Questions<T>,
  notBefore?: number
): Promise<Together<T>> {
  let answers: AtSlot<unknown>[] = await Promise.all(questions.map(ask => ask(notBefore)))
  for (let round = 1; round < MAX_ROUNDS; round++) {
    const newest = Math.max(...answers.map(answer => answer.slot))
    if (answers.every(answer => answer.slot === newest)) break
    answers = await Promise.all(
      questions.map((ask, at) => {
        const answer = answers[at]
        return answer?.slot === newest ? answer : ask(newest)
      })
    )
  }
  const slots = answers.map(answer => answer.slot)
  return {
    values: answers.map(answer => answer.value) as unknown as T,
    oldestSlot: Math.min(...slots),
    newestSlot: Math.max(...slots)
  }
}
