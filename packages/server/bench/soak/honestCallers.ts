import { isDeepStrictEqual } from 'node:util'
import { type EvmWorld, evmAddressesOf, evmHistoryOf, expectedRecord } from '@chain-data/devnet'
import { busyAccount } from './busyAccount.ts'
import type { Tally } from './Tally.ts'

/** Sends a body with the right key; gives the answer's text. Refusals of an overloaded server are repeated. */
export type AskHonestly = (kind: string, body: string) => Promise<string | undefined>

/** A caller does one thing after the other, each checked. */
export type Caller = () => Promise<void>

interface Answer {
  readonly result?: unknown
  readonly error?: unknown
}

/**
 * Callers who use the service as it is meant, and know what must come: from the world that was seeded, which stays as it is, and
 * of the busy account every nonce down to the first.
 */
export function createHonestCallers(ask: AskHonestly, world: EvmWorld, tally: Tally): readonly Caller[] {
  const addresses = evmAddressesOf(world)
  const holdings = new Map<string, unknown>()
  let turn = 0
  let leastBusy = 0
  const next = () => addresses[turn++ % addresses.length] ?? busyAccount

  const request = (method: string, params: readonly unknown[], id = 1) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, chainId: world.chainId, params })
  const parse = async (kind: string, body: string): Promise<Answer | readonly Answer[] | undefined> => {
    const text = await ask(kind, body)
    return text === undefined ? undefined : JSON.parse(text)
  }
  const checkHistory = (address: string, answer: Answer, limit?: number) => {
    const expected = evmHistoryOf(world, address)
      .slice(0, limit)
      .map(transaction => expectedRecord(world, transaction))
    const records = answer.result as Record<string, unknown>[] | undefined
    const isRight =
      records?.length === expected.length &&
      expected.every((record, i) =>
        Object.entries(record).every(([name, value]) => isDeepStrictEqual(records[i]?.[name], value))
      )
    if (!isRight) tally.wrong(`history of ${address}: ${JSON.stringify(answer)}`)
  }
  const checkBusy = (answer: Answer) => {
    const nonces = (answer.result as { nonce: number }[] | undefined)?.map(({ nonce }) => nonce) ?? []
    const isRight = nonces.length >= leastBusy && nonces.every((nonce, i) => nonce === nonces.length - 1 - i)
    if (!isRight)
      tally.wrong(`whole history of ${nonces.length} records, ${leastBusy} at least were expected`)
    leastBusy = Math.max(leastBusy, nonces.length)
  }

  return [
    async () => {
      const address = next()
      const answer = await parse('page', request('svc_getTransactionsByAddress', [address, { limit: 10 }]))
      if (answer !== undefined) checkHistory(address, answer as Answer, 10)
    },
    async () => {
      const address = next()
      const answer = (await parse('holdings', request('svc_getTokensAndNFTs', [address]))) as
        | Answer
        | undefined
      if (answer === undefined) return
      const { asOf: _, ...held } = (answer.result ?? {}) as Record<string, unknown>
      const before = holdings.get(address) ?? held
      holdings.set(address, before)
      if (answer.error !== undefined || !isDeepStrictEqual(held, before)) {
        tally.wrong(`holdings of ${address}: ${JSON.stringify(answer)}`)
      }
    },
    async () => {
      const answer = await parse('whole', request('svc_getTransactionsByAddress', [busyAccount]))
      if (answer !== undefined) checkBusy(answer as Answer)
    },
    async () => {
      const asked = Array.from({ length: 20 }, next)
      const entries = asked.map((address, id) => request('svc_getTransactionsByAddress', [address], id))
      const answers = (await parse('batch', `[${entries.join()}]`)) as readonly Answer[] | undefined
      if (answers === undefined) return
      for (const [i, address] of asked.entries()) checkHistory(address, answers[i] ?? {})
    }
  ]
}
