import { setTimeout as sleep } from 'node:timers/promises'
import { authorization } from './messages.ts'

const pollMs = 50

/** Asks a server for the newest 100 transactions of an account, again and again, until it answers with a result. */
export async function askUntilAnswered(url: string, chainId: number, address: string): Promise<void> {
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'svc_getTransactionsByAddress' },
    ...{ chainId, params: [address, { limit: 100 }] }
  })
  for (;;) {
    const response = await fetch(`${url}/evm-chain`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body
    })
    const text = await response.text()
    if (response.status === 200 && text.includes('"result":[')) return
    await sleep(pollMs)
  }
}
