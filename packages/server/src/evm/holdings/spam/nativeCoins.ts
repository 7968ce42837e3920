/** The name and symbol of a coin that is known by its chain. */
export interface CoinName {
  readonly name: string
  readonly symbol: string
}

const ether: readonly CoinName[] = [
  { name: 'Ether', symbol: 'ETH' },
  { name: 'Ethereum', symbol: 'ETH' }
]

const coins: Readonly<Record<number, readonly CoinName[]>> = {
  1: ether,
  10: ether,
  56: [{ name: 'BNB', symbol: 'BNB' }],
  100: [{ name: 'xDAI', symbol: 'XDAI' }],
  137: [
    { name: 'POL', symbol: 'POL' },
    { name: 'Matic', symbol: 'MATIC' }
  ],
  250: [{ name: 'Fantom', symbol: 'FTM' }],
  324: ether,
  8453: ether,
  31337: ether,
  42161: ether,
  43114: [{ name: 'Avalanche', symbol: 'AVAX' }],
  59144: ether,
  534352: ether,
  11155111: ether
}

/** What the native coin of a chain is called; `[]` for a chain that is not known here. */
export function nativeCoinNames(chainId: number): readonly CoinName[] {
  return coins[chainId] ?? []
}
