/** A page that shows what the connected wallet holds, with wagmi 3: the account and the chain come from wagmi. */
import { createClient } from '@chain-data/client/fetch'
import { getTokensAndNFTsQuery } from '@chain-data/client/query'
import { QueryClient, QueryClientProvider, skipToken, useQuery } from '@tanstack/react-query'
import {
  createConfig,
  http,
  useConnect,
  useConnection,
  useConnectors,
  useDisconnect,
  WagmiProvider
} from 'wagmi'
import { mainnet, polygon } from 'wagmi/chains'
import { injected } from 'wagmi/connectors'

export const config = createConfig({
  chains: [mainnet, polygon],
  connectors: [injected()],
  transports: { [mainnet.id]: http(), [polygon.id]: http() }
})

// The page's own host adds the key.
const client = createClient({ baseUrl: '/api/chain-data', auth: false })
const cache = new QueryClient()

export function WalletPage() {
  return (
    <WagmiProvider config={config}>
      <QueryClientProvider client={cache}>
        <Wallet />
      </QueryClientProvider>
    </WagmiProvider>
  )
}

function Wallet() {
  const { address, chainId } = useConnection()
  const connectors = useConnectors()
  const connect = useConnect()
  const disconnect = useDisconnect()
  const isConnected = address !== undefined && chainId !== undefined
  // Nothing is asked before a wallet is connected; another account or chain is another query.
  const holdings = useQuery(getTokensAndNFTsQuery(client, isConnected ? { address, chainId } : skipToken))
  if (!isConnected) {
    return connectors.map(connector => (
      <button key={connector.uid} type="button" onClick={() => connect.mutate({ connector })}>
        Connect {connector.name}
      </button>
    ))
  }
  return (
    <main>
      <button type="button" onClick={() => disconnect.mutate()}>
        Disconnect {address}
      </button>
      {holdings.error && <p role="alert">{holdings.error.message}</p>}
      {holdings.isPending && <p>Reading …</p>}
      <ul>
        {holdings.data?.tokens.map(token => (
          <li key={token.address}>
            {token.amount} {token.symbol || token.address}
          </li>
        ))}
      </ul>
    </main>
  )
}
