import { PublicKey, SystemProgram } from '@solana/web3.js'
import type { SolanaDriver } from '../createSolanaDriver.ts'
import { type MintExtension, mintExtensions as made } from '../mintExtensions.ts'
import type { SolanaUiAmount } from '../SolanaWorld.ts'
import { solanaMint, solanaOwner } from '../solanaTruth.ts'
import { associatedAddress, createSplInstructions, tokenPrograms } from '../splInstructions.ts'
import { encodeTokenAccount, uiAmountBytes } from '../tokenBytes.ts'
import { placeHolding } from './placeHolding.ts'
import type { SolanaStage } from './SolanaStage.ts'

/** `erin`: one token for each thing that Token-2022 can do, and what SPL Token could do before it. */
export async function playExtensionScene({ driver }: SolanaStage): Promise<void> {
  const hook = driver.addressOf('program', 'transfer hook')
  await issueEach(driver, {
    'closable coin': [made.closeAuthority()],
    'secret coin': [made.confidentialTransfer()],
    'bound coin': [made.nonTransferable()],
    'delegated by the mint': [made.permanentDelegate()],
    'hooked coin': [made.transferHook(hook)],
    group: [made.groupPointer(), made.group()],
    'scaled coin': [made.scaledUiAmount(2.5)],
    'split coin': [made.scaledUiAmount(1), made.nextMultiplier(10, 4_000_000_000)],
    'paused coin': [made.pausable()],
    everything: [
      ...[made.transferFee(100, 5n), made.closeAuthority()],
      ...[made.permanentDelegate(), made.transferHook(hook), made.scaledUiAmount(0.001), made.pausable()]
    ]
  })
  const { world, payer } = driver
  const group = new PublicKey(solanaMint(world, 'group').address)
  await issueEach(driver, { 'group member': [made.memberPointer(), made.member(group)] })
  const shown = (multiplier: number, newMultiplier = multiplier, newMultiplierEffectiveTimestamp = 0) => ({
    scaledUiAmount: { multiplier, newMultiplier, newMultiplierEffectiveTimestamp }
  })
  solanaMint(world, 'scaled coin').uiAmount = shown(2.5)
  solanaMint(world, 'split coin').uiAmount = shown(1, 10, 4_000_000_000)
  solanaMint(world, 'everything').uiAmount = shown(0.001)
  const paused = new PublicKey(solanaMint(world, 'paused coin').address)
  await driver.send([createSplInstructions('token-2022').pause(paused, payer)])

  await taxTransfers(driver)
  await freezeByDefault(driver)
  await guardAccounts(driver)
  await wrapSol(driver)
  await placeWhatTakesTime(driver)
}

async function issueEach(driver: SolanaDriver, coins: Record<string, MintExtension[]>) {
  for (const [at, [label, extensions]] of Object.entries(coins).entries()) {
    const intent = { label, program: 'token-2022', decimals: 6, kind: 'token', extensions } as const
    await driver.issue({ ...intent, extensions }, 'erin', 1_000_000n + BigInt(at))
  }
}

/** What is withheld from a transfer lies in the receiver's account, and is not the receiver's. */
async function taxTransfers(driver: SolanaDriver) {
  const extensions = [made.transferFee(250, 900n)]
  const intent = { label: 'taxed coin', program: 'token-2022', decimals: 2, kind: 'token' } as const
  const sender = await driver.issue({ ...intent, extensions }, 'frank', 100_000n)
  solanaMint(driver.world, 'taxed coin').transferFee = { basisPoints: 250, maximum: 900n }
  const receiver = await driver.createTokenAccount('taxed coin', 'erin')
  await driver.transfer(sender, receiver, 10_001n)
  await driver.transfer(sender, receiver, 50_000n)
}

async function freezeByDefault(driver: SolanaDriver) {
  const label = 'frozen by default'
  const extensions = [made.frozenByDefault()]
  await driver.createMint({ label, program: 'token-2022', decimals: 0, kind: 'token', extensions })
  const account = await driver.createTokenAccount(label, 'erin')
  const [key, mint] = [new PublicKey(account.address), new PublicKey(solanaMint(driver.world, label).address)]
  const { thawAccount } = createSplInstructions('token-2022')
  await driver.send([thawAccount(key, mint, driver.payer)])
  await driver.mintTo(account, 77n)
  await driver.freeze(account)
}

/** Delegated under the old program; under the new one it wants memos and is closed to other programs. */
async function guardAccounts(driver: SolanaDriver) {
  const [owner, delegate] = ['erin', 'frank'].map(
    name => new PublicKey(solanaOwner(driver.world, name).address)
  ) as [PublicKey, PublicKey]
  const old = await driver.issue(
    { label: 'delegated coin', program: 'spl-token', decimals: 3, kind: 'token' },
    ...(['erin', 5_000n] as const)
  )
  const { approve } = createSplInstructions('spl-token')
  await driver.send([approve(new PublicKey(old.address), delegate, owner, 4_999n)], ['erin'])
  const { address } = await driver.issue(
    { label: 'guarded coin', program: 'token-2022', decimals: 3, kind: 'token' },
    ...(['erin', 6_000n] as const)
  )
  const [key, spl] = [new PublicKey(address), createSplInstructions('token-2022')]
  await driver.send(
    [
      spl.reallocate(key, driver.payer, owner, [8, 11]),
      spl.guardAccount(key, owner, 30),
      spl.guardAccount(key, owner, 34),
      spl.approve(key, delegate, owner, 1n)
    ],
    ['erin']
  )
}

/** Lamports in a token account of the native mint: what is beyond its rent is the amount. */
async function wrapSol(driver: SolanaDriver) {
  const { world, payer } = driver
  const label = 'wrapped SOL'
  const mint = new PublicKey('So11111111111111111111111111111111111111112')
  world.mints[label] = {
    ...{ label, address: mint.toBase58(), program: 'spl-token', decimals: 9, supply: 0n, kind: 'token' }
  }
  const account = await driver.createTokenAccount(label, 'erin')
  const key = associatedAddress('spl-token', new PublicKey(solanaOwner(world, 'erin').address), mint)
  const lamports = 1_234_567_891n
  await driver.send(
    [
      SystemProgram.transfer({ fromPubkey: payer, toPubkey: key, lamports }),
      createSplInstructions('spl-token').syncNative(key)
    ],
    [],
    { amounts: [[account, lamports]] }
  )
}

/** Interest counts from a moment that the node's clock would choose; a confidential balance wants proofs. */
async function placeWhatTakesTime(driver: SolanaDriver) {
  const bearing = (preUpdateAverageRate: number, currentRate: number): SolanaUiAmount => ({
    interestBearing: {
      ...{ initializationTimestamp: 1_600_000_000, preUpdateAverageRate },
      ...{ lastUpdateTimestamp: 1_700_000_000, currentRate }
    }
  })
  for (const [label, uiAmount] of [
    ['interest coin', bearing(500, 425)],
    ['negative interest coin', bearing(0, -32_768)]
  ] as const) {
    const extensions = () => uiAmountBytes(uiAmount)
    await placeHolding(driver, {
      label,
      owner: 'erin',
      decimals: 6,
      amount: 3_000_000n,
      uiAmount,
      extensions
    })
  }
  // A confidential balance is 295 bytes that only its owner can read; the public one beside it stays what it is.
  const { address: mint, supply: amount } = solanaMint(driver.world, 'secret coin')
  const { address: owner } = solanaOwner(driver.world, 'erin')
  const address = associatedAddress('token-2022', new PublicKey(owner), new PublicKey(mint)).toBase58()
  const confidential = [5, Buffer.alloc(295, 171)] as const
  const data = encodeTokenAccount({ mint, owner, amount }, [[7, Buffer.alloc(0)], confidential])
  await driver.setAccount(address, data, tokenPrograms['token-2022'])
}
