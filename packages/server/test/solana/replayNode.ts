import { answerOf, errorOf, type Reaction, type RpcCall } from './startScriptedNode.ts'

/** What a real node answered about one account, and what the service has to make of it. */
export interface Recording {
  /** The software that answered. */
  readonly node: string
  readonly address: string
  /** JSON text each, so that no digit is lost. */
  readonly balance: string
  readonly slot: number
  /** Items of `getTokenAccountsByOwner` by token program. */
  readonly tokenAccounts: Readonly<Record<string, readonly string[]>>
  /** Items of `getMultipleAccounts` by address; "null" where there was no account. */
  readonly accounts: Readonly<Record<string, string>>
  /** What was put on the chain, in the form of `comparable`. */
  readonly expected: unknown
}

/** Answers a call as it was recorded; what was never asked of the real node is refused. */
export function replay(recording: Recording, call: RpcCall): Reaction {
  const [first, second] = call.params
  const answer = (value: string) => answerOf(call, value, recording.slot)
  switch (call.method) {
    case 'getBalance':
      if (first === recording.address) return answer(recording.balance)
      break
    case 'getTokenAccountsByOwner': {
      const items = recording.tokenAccounts[(second as { programId: string }).programId]
      if (first === recording.address && items !== undefined) return answer(`[${items.join()}]`)
      break
    }
    case 'getMultipleAccounts': {
      const items = (first as string[]).map(key => recording.accounts[key])
      if (!items.includes(undefined)) return answer(`[${items.join()}]`)
      break
    }
  }
  return errorOf(call, -32601)
}
