import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import type { AccountView, DevNode } from './startDevNode.ts'

/** Calls a service. @returns the result or the error. */
export type Call = (method: string, ...params: readonly unknown[]) => Promise<unknown>

const withinMs = 10_000

/** Polls until history and holdings of the account are what its node says; at most ten seconds. */
export async function expectRight(event: string, node: DevNode, call: Call): Promise<void> {
  const truth = await node.truth()
  const deadline = performance.now() + patient(withinMs)
  // Not `expect.poll`, which belongs to one test at a time.
  for (;;) {
    const seen = await answer(call, node.account)
    try {
      expect(seen, event).toEqual(truth)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await sleep(50)
  }
}

/** @returns the refusal in place of what was refused. */
async function answer(call: Call, account: string): Promise<unknown> {
  const history = (await call('svc_getTransactionsByAddress', account)) as AccountView['history']
  const holdings = (await call('svc_getTokensAndNFTs', account)) as AccountView
  if (!Array.isArray(history) || holdings.tokens === undefined) return { history, holdings }
  return {
    history: history.map(({ hash, blockNumber, timestamp }) => ({ hash, blockNumber, timestamp })),
    native: holdings.native,
    tokens: holdings.tokens.map(({ address, name, amount }) => ({ address, name, amount }))
  }
}
