import { type NodeFault, nodeFaults } from '../solana/nodeFaults.ts'
import type { Reaction, RpcCall } from '../solana/startScriptedNode.ts'

type Change = (result: never) => unknown

/** Lets the real node answer one method and changes the result. */
const changing =
  (method: string, change: Change): NodeFault['react'] =>
  (call: RpcCall, realNode: string): Reaction | undefined =>
    call.method !== method
      ? undefined
      : {
          passOn: realNode,
          change: text => {
            const answer = JSON.parse(text) as { result: never }
            return JSON.stringify({ ...answer, result: change(answer.result) })
          }
        }

interface Listed {
  signature: string
  slot: number
}

const lists = 'getSignaturesForAddress'
const transactions = 'getTransaction'
const refusal =
  (method: string, code: number): NodeFault['react'] =>
  call =>
    call.method !== method
      ? undefined
      : { body: JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code, message: 'refused' } }) }

const own: readonly [string, NodeFault['react']][] = [
  ['lists signatures in the wrong order', changing(lists, (list: Listed[]) => [...list].reverse())],
  ['lists a signature twice', changing(lists, (list: Listed[]) => list.flatMap(each => [each, each]))],
  [
    'lists what is no signature',
    changing(lists, (list: Listed[]) => list.map(each => ({ ...each, signature: 'x' })))
  ],
  ['lists without slots', changing(lists, (list: Listed[]) => list.map(({ slot: _, ...each }) => each))],
  ['answers an object for a list', changing(lists, () => ({}))],
  ['has no transaction that it lists', changing(transactions, () => null)],
  [
    'answers another transaction',
    changing(transactions, (found: { transaction: object }) => ({
      ...found,
      transaction: { ...found.transaction, signatures: ['1'.repeat(64)] }
    }))
  ],
  ['has lost what a transaction did', changing(transactions, (found: object) => ({ ...found, meta: null }))],
  [
    'has lost a balance',
    changing(transactions, (found: { meta: { preBalances: number[] } }) => ({
      ...found,
      meta: { ...found.meta, preBalances: found.meta.preBalances.slice(1) }
    }))
  ],
  [
    'places a transaction in another slot',
    changing(transactions, (found: Listed) => ({ ...found, slot: found.slot + 1 }))
  ],
  ['keeps no history', refusal(lists, -32_011)],
  ['does not reach its long-term storage', refusal(lists, -32_019)],
  ['knows no versioned transactions', refusal(transactions, -32_015)]
]

/** What a history never asks for. */
const foreign = new Set(['ignores how new an answer must be', 'leaves out an account that was asked for'])

/** Every way to go wrong that another node makes up for, those of holdings included. */
export const historyFaults: readonly Pick<NodeFault, 'name' | 'react'>[] = [
  ...nodeFaults.filter(({ name }) => !foreign.has(name)),
  ...own.map(([name, react]) => ({ name, react }))
]
