import { type Client, createClient } from '@chain-data/client/fetch'
import { createContext, type ReactNode, useContext } from 'react'
import type { PageSettings } from '../settings.ts'

const ClientContext = createContext<Client | undefined>(undefined)

/** The client of the page's service. It holds the publishable key, or none where the host signs. */
export function createPageClient({ serviceUrl, projectId, clientKey }: PageSettings): Client {
  return createClient(
    clientKey === ''
      ? { baseUrl: serviceUrl, auth: false }
      : // A page that was loaded over https refuses plain http by itself.
        { baseUrl: serviceUrl, projectId, clientKey, allowInsecureHttp: true }
  )
}

/** Gives the client to everything below. */
export function ClientProvider({ client, children }: { client: Client; children: ReactNode }) {
  return <ClientContext value={client}>{children}</ClientContext>
}

/** The client of the page. @throws Outside of a {@link ClientProvider}. */
export function useClient(): Client {
  const client = useContext(ClientContext)
  if (client === undefined) throw new Error('useClient needs a ClientProvider above it')
  return client
}
