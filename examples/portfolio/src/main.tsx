import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.tsx'
import { settings } from './config.ts'
import { ClientProvider, createPageClient } from './shared/ClientProvider.tsx'
import { copyExactAmounts } from './shared/copyExact.ts'
import { applyTheme } from './shared/theme.ts'
import './theme.css'
import './page.css'

applyTheme()
copyExactAmounts()

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element with the id "root"')

// What was seen a moment ago is shown at once when the reader comes back to it.
const queryClient = new QueryClient({ defaultOptions: { queries: { staleTime: 2000 } } })

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ClientProvider client={createPageClient(settings)}>
        <App />
      </ClientProvider>
    </QueryClientProvider>
  </StrictMode>
)
