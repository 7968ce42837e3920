/**
 * Opens the wallet page of `examples/programs` in Chromium, from a project with the packed client and wagmi: it connects,
 * shows what a real account holds, follows the wallet to another account and chain, and disconnects. The chain is an anvil
 * with chain id 1, the service one of this repository behind a route of the page's host. In place of a browser extension, a provider
 * (EIP-1193, announced as EIP-6963 says) hands what it is asked to that anvil.
 *
 * `node --conditions=@chain-data/source .ci/openWalletPage.ts <project>`; says so and ends where there is no Chromium.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHost } from 'node:http'
import { createRoute } from '@chain-data/client/route'
import { expectedEvmHoldings, startDevnet } from '@chain-data/devnet'
import { createServer } from '@chain-data/server'
import { build } from 'esbuild'
import { toNodeListener } from '../examples/proxy/toNodeListener.ts'
import { whenReady } from '../examples/startExample.ts'
import { findChromium, startChromium } from '../packages/client/test/runtimes/chromium.ts'

/** What a test of this repository changes at the wallet. */
interface Wallet {
  select(address: string, chainId: string): void
}

/** Runs in the page, before its own script. */
function announceWallet(first: string): void {
  const page = globalThis as unknown as {
    askNode(method: string, params: unknown): Promise<unknown>
    wallet: Wallet
  } & EventTarget
  const listeners: Record<string, Set<(value: unknown) => void>> = {
    accountsChanged: new Set(),
    chainChanged: new Set()
  }
  let account = first
  let chainId = '0x1'
  let isConnected = false
  const provider = {
    async request({ method, params }: { method: string; params?: unknown }) {
      if (method === 'eth_requestAccounts') isConnected = true
      if (method === 'wallet_revokePermissions') isConnected = false
      if (method === 'eth_chainId') return chainId
      if (/^eth_(requestA|a)ccounts$/.test(method)) return isConnected ? [account] : []
      if (method.startsWith('wallet_')) return null
      return await page.askNode(method, params)
    },
    on: (event: string, listener: () => void) => void listeners[event]?.add(listener),
    removeListener: (event: string, listener: () => void) => void listeners[event]?.delete(listener)
  }
  page.wallet = {
    select(address, chain) {
      account = address
      chainId = chain
      for (const listener of listeners.accountsChanged ?? []) listener([account])
      for (const listener of listeners.chainChanged ?? []) listener(chainId)
    }
  }
  const info = {
    uuid: '5f9b3a2e-0000-4000-8000-000000000000',
    name: 'Test Wallet',
    rdns: 'wallet.example',
    icon: 'data:,'
  }
  const announce = () =>
    page.dispatchEvent(
      new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) })
    )
  page.addEventListener('eip6963:requestProvider', announce)
  announce()
}

const [project = '.'] = process.argv.slice(2)
const executablePath = findChromium()
if (executablePath === undefined) {
  process.stdout.write(
    'the wallet page is not opened: there is no Chromium here; CHROMIUM_PATH may name one\n'
  )
  process.exit()
}

const { outputFiles } = await build({
  stdin: {
    contents: `
      import { createElement } from 'react'
      import { createRoot } from 'react-dom/client'
      import { WalletPage } from './programs/walletPage.tsx'
      createRoot(document.querySelector('#root')).render(createElement(WalletPage))`,
    resolveDir: project
  },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'browser',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'silent'
})

const ends: (() => Promise<unknown>)[] = []
try {
  const devnet = await startDevnet({ evm: { chainId: 1 }, solana: false, pool: false })
  ends.push(() => devnet.stop())
  if (devnet.evm === undefined) throw new Error('the devnet came without its EVM node')
  const { node, world } = devnet.evm
  const access = { projectId: 'demo', serverKey: 'demo-server-key' }
  const service = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [access],
    // The preset of Ethereum recomputes roots, which anvil does not make as Ethereum does.
    chains: { evm: [{ chainId: 1, rpcUrls: [node.rpcUrl], verify: 'basic' }] },
    log: { level: 'silent' }
  })
  ends.push(() => service.close())
  const target = await service.listen()
  await whenReady(target)

  const answerPage = toNodeListener(
    createRoute({
      ...access,
      baseUrl: target,
      allow: ['svc_getTokensAndNFTs', 'svc_getTransactionsByAddress']
    })
  )
  const asked: string[] = []
  const host = createHost((request, response) => {
    if (request.url?.startsWith('/api/chain-data/')) {
      asked.push(request.url)
      answerPage(request, response)
    } else if (request.url === '/page.js') {
      response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.contents)
    } else {
      const html = '<!doctype html><link rel="icon" href="data:,"><div id="root"></div>'
      response
        .setHeader('content-type', 'text/html')
        .end(`${html}<script type="module" src="/page.js"></script>`)
    }
  })
  await once(host.listen(0, '127.0.0.1'), 'listening')
  ends.push(async () => {
    host.closeAllConnections()
    host.close()
  })

  const browser = await startChromium(executablePath)
  ends.push(() => browser.close())
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('pageerror', error => problems.push(String(error)))
  page.on('console', message => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.exposeFunction('askNode', async (method: string, params: unknown) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(node.rpcUrl, { method: 'POST', headers, body })
    return ((await response.json()) as { result: unknown }).result
  })

  const holdings = Object.values(world.accounts)
    .map(({ address }) => ({
      address,
      tokens: expectedEvmHoldings(world, address, devnet.metadata.url).tokens
    }))
    .filter(({ tokens }) => tokens.length > 0)
  const [first, second] = holdings
  if (first === undefined || second === undefined)
    throw new Error('the world has no two accounts with tokens')
  const rowsOf = ({ tokens }: typeof first) =>
    tokens.map(({ amount, symbol, address }) => `${amount} ${symbol || address}`).sort()
  const rows = async (account: typeof first) => {
    await page.getByRole('button', { name: `Disconnect ${account.address}` }).waitFor()
    await page.getByRole('listitem').first().waitFor()
    return (await page.getByRole('listitem').allInnerTexts()).sort()
  }
  const select = (address: string, chainId: string) =>
    page.evaluate(
      ([account = '', chain = '']) =>
        (globalThis as unknown as { wallet: Wallet }).wallet.select(account, chain),
      [address, chainId]
    )

  await page.addInitScript(announceWallet, first.address)
  const { port } = host.address() as { port: number }
  await page.goto(`http://127.0.0.1:${port}/`)
  const connect = page.getByRole('button', { name: 'Connect Test Wallet' })
  await connect.waitFor()
  assert.deepEqual(asked, [], 'something was asked before a wallet was connected')
  await connect.click()
  assert.deepEqual(await rows(first), rowsOf(first))
  await select(second.address, '0x1')
  assert.deepEqual(await rows(second), rowsOf(second))
  // Polygon is on the page, and not served.
  await select(second.address, '0x89')
  const alert = page.getByRole('alert')
  await alert.waitFor()
  assert.match(await alert.innerText(), /getTokensAndNFTs: .*137.* Served: 1\. .*UNSUPPORTED_CHAIN/)
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await connect.waitFor()
  assert.deepEqual(problems, [])
  process.stdout.write(
    `the wallet page shows ${first.tokens.length} and ${second.tokens.length} tokens of two accounts in Chromium\n`
  )
} finally {
  for (const end of ends.reverse()) await end()
}
