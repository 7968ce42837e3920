/** A chain that the page offers. */
export interface ChainSettings {
  readonly id: number
  readonly family: 'evm' | 'solana'
  readonly name: string
  /** Of the native currency. */
  readonly symbol: string
  /** Of the native currency: 18 for ether, 9 for SOL. */
  readonly decimals: number
}

/** An account that the start page offers to look at. */
export interface SampleAccount {
  readonly chainId: number
  readonly address: string
  readonly name: string
}

/** Everything that differs from one place where the page runs to the next. */
export interface PageSettings {
  /** The service, without `/evm-chain` or `/solana`; a path on this page's origin where the host passes calls on. */
  readonly serviceUrl: string
  readonly projectId: string
  /** Publishable: whoever opens the page can read it. Empty where the host passes calls on and signs them. */
  readonly clientKey: string
  readonly chains: readonly ChainSettings[]
  readonly samples: readonly SampleAccount[]
  /** Origins without https that pictures may come from: those of a devnet. */
  readonly imageOrigins: readonly string[]
  /** How often what is shown is asked for again. */
  readonly pollMs: number
}

const defaultChains: readonly ChainSettings[] = [
  { id: 31337, family: 'evm', name: 'Devnet', symbol: 'ETH', decimals: 18 },
  { id: 103, family: 'solana', name: 'Solana devnet', symbol: 'SOL', decimals: 9 }
]

/** Reads the settings that were built into the page. @throws SyntaxError for a list that is no JSON. */
export function readSettings(env: Readonly<Record<string, unknown>>): PageSettings {
  const text = (name: string, fallback: string) => {
    const value = env[`VITE_CHAIN_DATA_${name}`]
    return typeof value === 'string' && value !== '' ? value : fallback
  }
  const list = <Item>(name: string, fallback: readonly Item[]) =>
    JSON.parse(text(name, JSON.stringify(fallback))) as readonly Item[]
  return {
    serviceUrl: text('URL', 'http://127.0.0.1:8080'),
    projectId: text('PROJECT', 'demo'),
    clientKey: text('CLIENT_KEY', ''),
    chains: list('CHAINS', defaultChains),
    samples: list<SampleAccount>('SAMPLES', []),
    imageOrigins: text('IMAGE_ORIGINS', '')
      .split(',')
      .filter(origin => origin !== ''),
    pollMs: Number(text('POLL_MS', '12000'))
  }
}
