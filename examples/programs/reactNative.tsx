/** The live transactions of an account in React Native: nothing is read while the app is in the background. */
import { type Client, createClient, isPending } from '@chain-data/client'
import { createLiveHistory, type LiveHistory, type Visibility } from '@chain-data/client/history'
import { useMemo, useSyncExternalStore } from 'react'
import { AppState, FlatList, Text } from 'react-native'

/** The app's state as the visibility of a list. */
const appVisibility: Visibility = {
  isVisible: () => AppState.currentState === 'active',
  subscribe(listener) {
    const subscription = AppState.addEventListener('change', listener)
    return () => subscription.remove()
  }
}

/**
 * An app holds no key: the route of your own host (`createRoute`) adds it. An app sends no `Origin` by itself, so it names the
 * host's. The host checks the token before it calls the route.
 */
export const connect = (baseUrl: string, readToken: () => Promise<string>): Client =>
  createClient({
    baseUrl,
    auth: async () => ({
      Origin: /^https?:..[^/]+/.exec(baseUrl)?.[0] ?? '',
      Authorization: `Bearer ${await readToken()}`
    })
  })

export const openHistory = (client: Client, address: string, chainId: number): LiveHistory =>
  createLiveHistory(client, { address, chainId, visibility: appVisibility })

export function Transactions(props: {
  readonly client: Client
  readonly address: string
  readonly chainId: number
}) {
  const { client, address, chainId } = props
  const history = useMemo(() => openHistory(client, address, chainId), [client, address, chainId])
  const snapshot = useSyncExternalStore(history.subscribe, history.getSnapshot)
  if (snapshot.state === 'failed') return <Text>{snapshot.error.message}</Text>
  return (
    <FlatList
      data={snapshot.records ?? []}
      keyExtractor={record => record.hash}
      renderItem={({ item }) => (
        <Text>
          {item.hash.slice(0, 10)} {isPending(item) ? 'pending' : `block ${item.blockNumber ?? '?'}`}
        </Text>
      )}
      onEndReached={() => {
        if (snapshot.hasOlder) void history.loadOlder()
      }}
      onRefresh={() => void history.refresh()}
      refreshing={snapshot.state === 'loading'}
    />
  )
}
