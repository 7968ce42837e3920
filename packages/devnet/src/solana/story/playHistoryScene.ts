import { AddressLookupTableAccount, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { createByteWriter } from '../ByteWriter.ts'
import type { SendOptions, SolanaDriver } from '../createSolanaDriver.ts'
import { rent, withheld } from '../createSolanaTokens.ts'
import { mintExtensions as made } from '../mintExtensions.ts'
import type { SolanaIntent } from '../noteTransaction.ts'
import type { SolanaTokenAccount } from '../SolanaWorld.ts'
import { solanaMint, solanaOwner } from '../solanaTruth.ts'
import { associatedAddress, createSplInstructions, tokenAccountSize } from '../splInstructions.ts'
import type { SolanaStage } from './SolanaStage.ts'

const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const tableProgram = new PublicKey('AddressLookupTab1e1111111111111111111111111')
const accountRent = BigInt(rent(tokenAccountSize))
const spl = createSplInstructions('spl-token')

/** What the acts of the story share. */
interface Act {
  driver: SolanaDriver
  key(name: string): PublicKey
  /** Sends what a wallet pays for and signs. */
  by(
    payer: string,
    label: string,
    instructions: TransactionInstruction[],
    intent?: SolanaIntent,
    options?: SendOptions & { signers?: string[] }
  ): Promise<void>
  moves(
    from: SolanaTokenAccount,
    to: SolanaTokenAccount,
    amount: bigint,
    signer?: string
  ): TransactionInstruction
}

/**
 * `heidi`: how a wallet comes to what it holds. She begins with nothing; `ivan` trades with her and `judy` acts for her.
 */
export async function playHistoryScene({ driver }: SolanaStage): Promise<void> {
  for (const name of ['heidi', 'ivan', 'judy']) await driver.setLamports(name, 0n)
  const act = createAct(driver)
  await fund(act)
  const coins = await tradeCoins(act)
  await closeAccounts(act, coins)
  await actForHer(act, coins)
  await payTransferFees(act)
  await changeOwners(act, coins)
  await wrapAndUnwrap(act)
  await useLookupTable(act, coins)
}

function createAct(driver: SolanaDriver): Act {
  const key = (name: string) => new PublicKey(solanaOwner(driver.world, name).address)
  return {
    driver,
    key,
    async by(feePayer, label, instructions, intent = {}, { signers = [], ...options } = {}) {
      await driver.send(instructions, signers, { label, ...intent }, { feePayer, ...options })
    },
    moves(from, to, amount, signer = from.owner) {
      const mint = solanaMint(driver.world, from.mint)
      const parties = {
        ...{ from: new PublicKey(from.address), mint: new PublicKey(mint.address) },
        ...{ to: new PublicKey(to.address), owner: key(signer) }
      }
      return createSplInstructions(mint.program).transferChecked(parties, amount, mint.decimals)
    }
  }
}

async function fund({ driver, key, by }: Act) {
  for (const [name, lamports] of [
    ['heidi', 3_000_000_000n],
    ['ivan', 2_000_000_000n],
    ['judy', 1_000_000_000n]
  ] as const) {
    const transfer = SystemProgram.transfer({ fromPubkey: driver.payer, toPubkey: key(name), lamports })
    await driver.send([transfer], [], { label: `${name} is funded`, lamports: { [name]: lamports } })
  }
  const lamports = 250_000_000n
  await by(
    ...(['ivan', 'ivan pays heidi'] as const),
    [
      SystemProgram.transfer({ fromPubkey: key('ivan'), toPubkey: key('heidi'), lamports }),
      memo('for the müsli')
    ],
    { lamports: { ivan: -lamports, heidi: lamports }, memo: 'for the müsli' }
  )
  await by('heidi', 'heidi leaves a note', [memo('nothing moves')], { memo: 'nothing moves' })
  const tooMuch = 50_000_000_000n
  await by(
    ...(['heidi', 'heidi fails to pay ivan'] as const),
    [SystemProgram.transfer({ fromPubkey: key('heidi'), toPubkey: key('ivan'), lamports: tooMuch })],
    ...([{}, { fails: true }] as const)
  )
}

interface Coins {
  heidis: SolanaTokenAccount
  ivans: SolanaTokenAccount
}

async function tradeCoins({ driver, key, by, moves }: Act): Promise<Coins> {
  const coin = { label: 'traded coin', program: 'spl-token', decimals: 6, kind: 'token' } as const
  const ivans = await driver.issue(coin, 'ivan', 2n ** 63n + 11n)
  const mint = new PublicKey(solanaMint(driver.world, coin.label).address)
  const heidis = associatedAccount(coin.label, 'heidi', associatedAddress('spl-token', key('heidi'), mint))
  await by(
    ...(['heidi', 'heidi opens an account'] as const),
    [spl.createAssociated(key('heidi'), key('heidi'), mint)],
    { lamports: { heidi: -accountRent }, opens: [heidis] }
  )
  const large = 2n ** 62n + 1n
  for (const [label, amount] of [
    ['ivan sends more than a double can hold', large],
    ['ivan sends coins', 5_000_001n]
  ] as const) {
    await by('ivan', label, [moves(ivans, heidis, amount)], changes([ivans, -amount], [heidis, amount]))
  }
  await by(
    ...(['heidi', 'heidi sends coins with a memo'] as const),
    [moves(heidis, ivans, 1_000_000n), memo('rent "May"')],
    { ...changes([heidis, -1_000_000n], [ivans, 1_000_000n]), memo: 'rent "May"' }
  )
  const all = 2n ** 63n
  await by('heidi', 'heidi fails to send coins', [moves(heidis, ivans, all)], {}, { fails: true })
  // Only her token account is named, and nothing changes.
  await by('ivan', 'ivan fails to send coins', [moves(ivans, heidis, all)], {}, { fails: true })
  return { heidis, ivans }
}

/** Accounts that are gone at the end: one after a life, one within one transaction, one that received after all others. */
async function closeAccounts({ driver, key, by, moves }: Act, { heidis, ivans }: Coins) {
  const purse = await driver.createTokenAccount('traded coin', 'heidi', 'purse of heidi')
  await by(
    'heidi',
    'heidi fills her purse',
    [moves(heidis, purse, 900n)],
    changes([heidis, -900n], [purse, 900n])
  )
  // Named by no wallet of hers: only the purse's own history has it.
  await by('ivan', 'ivan fills her purse', [moves(ivans, purse, 77n)], changes([ivans, -77n], [purse, 77n]))
  await by(
    ...(['heidi', 'heidi empties and closes her purse'] as const),
    [moves(purse, heidis, 977n), spl.closeAccount(new PublicKey(purse.address), key('heidi'), key('heidi'))],
    {
      ...changes([purse, -977n], [heidis, 977n]),
      ...{ closes: [purse], lamports: { heidi: accountRent } }
    }
  )
}

async function actForHer({ key, by, moves }: Act, { heidis, ivans }: Coins) {
  const account = new PublicKey(heidis.address)
  await by('heidi', 'heidi lets judy spend', [spl.approve(account, key('judy'), key('heidi'), 500n)])
  await by('judy', 'judy spends for heidi', [moves(heidis, ivans, 400n, 'judy')], {
    ...changes([heidis, -400n], [ivans, 400n])
  })
}

/** What a mint withholds stays behind in the receiver's account and is not the receiver's. */
async function payTransferFees({ driver, by, moves }: Act) {
  const label = 'tolled coin'
  const extensions = [made.transferFee(100, 5_000n)]
  const ivans = await driver.issue(
    { ...{ label, program: 'token-2022', decimals: 2, kind: 'token' }, extensions },
    ...(['ivan', 1_000_000n] as const)
  )
  const mint = solanaMint(driver.world, label)
  mint.transferFee = { basisPoints: 100, maximum: 5_000n }
  const heidis = await driver.createTokenAccount(label, 'heidi')
  for (const [sender, from, to, amount] of [
    ['ivan', ivans, heidis, 10_001n],
    ['ivan', ivans, heidis, 700_000n],
    ['heidi', heidis, ivans, 99n]
  ] as const) {
    const arrives = amount - withheld(mint, amount)
    await by(sender, `${sender} sends ${amount} with a toll`, [moves(from, to, amount)], {
      ...changes([from, -amount], [to, arrives])
    })
  }
}

async function changeOwners({ driver, key, by, moves }: Act, { heidis, ivans }: Coins) {
  const given = await driver.createTokenAccount('traded coin', 'heidi', 'given by heidi')
  await by(
    'heidi',
    'heidi fills what she gives',
    [moves(heidis, given, 31n)],
    changes([heidis, -31n], [given, 31n])
  )
  await by(
    ...(['heidi', 'heidi gives an account to ivan'] as const),
    [spl.setAuthority(new PublicKey(given.address), key('heidi'), 2, key('ivan'))],
    { handsOver: [[given, 'ivan']] }
  )
  const taken = await driver.createTokenAccount('traded coin', 'ivan', 'given by ivan')
  await by(
    'ivan',
    'ivan fills what he gives',
    [moves(ivans, taken, 53n)],
    changes([ivans, -53n], [taken, 53n])
  )
  // Her name is in the data of the instruction alone: no list of addresses has it.
  await by(
    ...(['ivan', 'ivan gives an account to heidi'] as const),
    [spl.setAuthority(new PublicKey(taken.address), key('ivan'), 2, key('heidi'))],
    { handsOver: [[taken, 'heidi']] }
  )
  await by('ivan', 'ivan fills what was his', [moves(ivans, taken, 2n)], changes([ivans, -2n], [taken, 2n]))
}

async function wrapAndUnwrap({ driver, key, by }: Act) {
  const label = 'wrapped SOL'
  const mint = new PublicKey(solanaMint(driver.world, label).address)
  const heidi = key('heidi')
  const wrapped = associatedAccount(label, 'heidi', associatedAddress('spl-token', heidi, mint))
  const at = new PublicKey(wrapped.address)
  const lamports = 400_000_000n
  const wrap = [
    spl.createAssociated(heidi, heidi, mint),
    SystemProgram.transfer({ fromPubkey: heidi, toPubkey: at, lamports }),
    spl.syncNative(at)
  ]
  const paid = lamports + accountRent
  await by('heidi', 'heidi wraps SOL', wrap, {
    ...{ lamports: { heidi: -paid }, opens: [wrapped], amounts: [[wrapped, lamports]] }
  })
  await by('heidi', 'heidi unwraps SOL', [spl.closeAccount(at, heidi, heidi)], {
    ...{ lamports: { heidi: paid }, amounts: [[wrapped, -lamports]], closes: [wrapped] }
  })
  // As exchanges do: the account is there within the transaction only.
  await by('heidi', 'heidi wraps and unwraps at once', [...wrap, spl.closeAccount(at, heidi, heidi)])
}

async function useLookupTable({ driver, key, by, moves }: Act, { heidis, ivans }: Coins) {
  const table = await placeTable(driver, [key('heidi'), key('judy'), new PublicKey(heidis.address)])
  const lookup = { lookupTable: table }
  const pay = (name: string, lamports: bigint) => ({
    instructions: [SystemProgram.transfer({ fromPubkey: key('ivan'), toPubkey: key(name), lamports })],
    intent: { lamports: { ivan: -lamports, [name]: lamports } }
  })
  const back = changes([heidis, -8n], [ivans, 8n])
  await by('heidi', 'heidi sends coins by a lookup table', [moves(heidis, ivans, 8n)], back, lookup)
  // A validator lists it under judy too, although only the table names her.
  const paid = pay('judy', 12_345n)
  await by('ivan', 'ivan pays judy by a lookup table', paid.instructions, paid.intent, lookup)
  await by('heidi', 'heidi takes her leave', [memo('end')], { memo: 'end' })
}

/** A lookup table as bytes: the node has no program that would make one. */
async function placeTable(driver: SolanaDriver, addresses: PublicKey[]): Promise<AddressLookupTableAccount> {
  const place = new PublicKey(driver.addressOf('account', 'lookup table'))
  const state = createByteWriter()
    .u8(1)
    .u16(0)
    .u8(0)
    .u64(2n ** 64n - 1n)
    .u64(1n)
    .finish(56)
  const data = Buffer.concat([state, ...addresses.map(key => key.toBuffer())])
  await driver.setAccount(place.toBase58(), data, tableProgram)
  return new AddressLookupTableAccount({ key: place, state: AddressLookupTableAccount.deserialize(data) })
}

function associatedAccount(mint: string, owner: string, address: PublicKey): SolanaTokenAccount {
  return { address: address.toBase58(), mint, owner, amount: 0n, state: 'initialized', isAssociated: true }
}

function changes(...amounts: (readonly [SolanaTokenAccount, bigint])[]): SolanaIntent {
  return { amounts }
}

function memo(text: string): TransactionInstruction {
  return new TransactionInstruction({ programId: memoProgram, keys: [], data: Buffer.from(text) })
}
