import { expect } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import type { AccountView, DevNode } from './startDevNode.ts'

/** Calls a service. @returns the result or the error. */
export type Call = (method: string, ...params: readonly unknown[]) => Promise<unknown>

const withinMs = 10_000

/** Polls until history and holdings of the account are what its node says; at most ten seconds. */
export async function expectRight(event: string, node: DevNode, call: Call): Promise<void> {
  const truth = await node.truth()
  await expect
    .poll(() => answer(call, node.account), { timeout: patient(withinMs), interval: 50, message: event })
    .toEqual(truth)
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
