import type {
  SolanaMetadataDocument,
  SolanaMint,
  SolanaOwner,
  SolanaTokenAccount,
  SolanaTransaction,
  SolanaWorld
} from './SolanaWorld.ts'

/** One token account with a balance, with its mint and where its metadata leads to. */
export interface SolanaHoldingTruth {
  account: SolanaTokenAccount
  mint: SolanaMint
  /** As a service should show them; empty where no metadata says anything. */
  name: string
  symbol: string
  /** Empty without metadata. */
  uri: string
  /** Absent where the URI leads to nothing. */
  document?: SolanaMetadataDocument
}

/** What an owner holds: one entry per token account with a balance. */
export interface SolanaHoldingsTruth {
  lamports: bigint
  tokens: SolanaHoldingTruth[]
  /** Semi-fungible ones included: see `mint.kind`. */
  nfts: SolanaHoldingTruth[]
  /** Mints of which something cannot be read, each once. Those of which nothing can be are not held above. */
  damaged: SolanaMint[]
  /** Token accounts whose balance cannot be read. */
  damagedAccounts: SolanaTokenAccount[]
}

/** Everything an owner holds, by name. Accounts with a zero balance are left out, frozen ones are not. */
export function solanaHoldingsOf(world: SolanaWorld, ownerName: string): SolanaHoldingsTruth {
  const accounts = world.tokenAccounts.filter(account => account.owner === ownerName && account.amount > 0n)
  const all = accounts
    .filter(({ isDamaged }) => isDamaged === undefined)
    .map(account => describe(world, account))
  const holdings = all.filter(({ mint }) => mint.damage !== 'mint')
  return {
    lamports: solanaOwner(world, ownerName).lamports,
    tokens: holdings.filter(({ mint }) => mint.kind === 'token'),
    nfts: holdings.filter(({ mint }) => mint.kind !== 'token'),
    damaged: [...new Set(all.map(({ mint }) => mint))].filter(({ damage }) => damage !== undefined),
    damagedAccounts: accounts.filter(({ isDamaged }) => isDamaged === true)
  }
}

/** The transactions of a wallet, newest first: those that name it, or a token account that it owned before or after. */
export function solanaHistoryOf(world: SolanaWorld, ownerName: string): SolanaTransaction[] {
  const { name } = solanaOwner(world, ownerName)
  const isPartOf = ({ lamports, tokens }: SolanaTransaction) =>
    name in lamports || tokens.some(({ preOwner, postOwner }) => preOwner === name || postOwner === name)
  return world.transactions.filter(isPartOf).reverse()
}

function describe(world: SolanaWorld, account: SolanaTokenAccount): SolanaHoldingTruth {
  const mint = solanaMint(world, account.mint)
  const { metaplex, extension } = describedBy(mint)
  const { name, symbol, uri } = metaplex ?? extension ?? { name: '', symbol: '', uri: '' }
  const document = world.documents.get(uri)
  return { account, mint, name, symbol, uri, ...(document === undefined ? {} : { document }) }
}

/** The one metadata of a mint that counts; neither where there is none. */
export function describedBy(mint: SolanaMint): Pick<SolanaMint, 'metaplex' | 'extension'> {
  const { metaplex, extension, describedBy: chosen = 'metaplex' } = mint
  if (metaplex !== undefined && (chosen === 'metaplex' || extension === undefined)) return { metaplex }
  return extension === undefined ? {} : { extension }
}

/** The owner of that name. @throws When there is none. */
export function solanaOwner(world: SolanaWorld, name: string): SolanaOwner {
  const found = world.owners[name]
  if (found === undefined) throw new Error(`no owner is named ${name}`)
  return found
}

/** The mint of that label. @throws When there is none. */
export function solanaMint(world: SolanaWorld, label: string): SolanaMint {
  const found = world.mints[label]
  if (found === undefined) throw new Error(`no mint is labelled ${label}`)
  return found
}
