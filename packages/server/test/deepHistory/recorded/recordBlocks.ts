import type { JsonRpc } from '../../../../devnet/src/platform/jsonRpc.ts'
import { readAuthorizations } from '../../../src/evm/blocks/authorizations.ts'
import { loadRecoverSender } from '../../../src/evm/blocks/roots/recoverSender.ts'

const recover = await loadRecoverSender()

export type Json = Readonly<Record<string, unknown>>

/** A block with transactions, as the node gave it. */
export interface RecordedBlock {
  readonly number: number
  readonly block: Json & { readonly transactions: readonly Json[] }
  readonly receipts: readonly (Json & { readonly logs: readonly Json[] })[]
  readonly traces: readonly Trace[]
}

export type Trace = Json & {
  readonly action: Json
  readonly result?: Json | null
  readonly transactionHash?: string
  readonly traceAddress: readonly number[]
}

/** An account after a block, until its next entry. */
type RecordedState = readonly [block: number, nonce: number, balance: string, code: string]

/** A chain of a real node: all blocks with transactions, and the states of all accounts that they touch. */
export interface RecordedChain {
  readonly head: number
  readonly genesis: Json
  readonly blocks: readonly RecordedBlock[]
  /** By address, lower case. */
  readonly states: Readonly<Record<string, readonly RecordedState[]>>
}

/** Records a node's chain while it is built. */
export interface ChainRecorder {
  /** Mines a block of what waits, and records it. */
  mine(): Promise<void>
  /** Mines empty blocks, which change no state. */
  skip(blocks: number): Promise<void>
  recorded(): Promise<RecordedChain>
}

/** Begins to record the chain of a node that has no block but its first. */
export async function recordBlocks(rpc: JsonRpc): Promise<ChainRecorder> {
  const blocks: RecordedBlock[] = []
  const states = new Map<string, RecordedState[]>()
  const readNumber = async () => Number(await rpc('eth_blockNumber'))

  async function readState(address: string, number: number): Promise<RecordedState> {
    const [nonce, balance, code] = await Promise.all([
      rpc('eth_getTransactionCount', address, 'latest'),
      rpc('eth_getBalance', address, 'latest'),
      rpc('eth_getCode', address, 'latest')
    ])
    return [number, Number(nonce), String(balance), String(code)]
  }

  for (const account of (await rpc('eth_accounts')) as string[])
    states.set(account.toLowerCase(), [await readState(account, 0)])

  return {
    async mine() {
      await rpc('evm_mine')
      const number = await readNumber()
      const height = `0x${number.toString(16)}`
      const [block, receipts, traces] = (await Promise.all([
        rpc('eth_getBlockByNumber', height, true),
        rpc('eth_getBlockReceipts', height),
        rpc('trace_block', height)
      ])) as [RecordedBlock['block'], RecordedBlock['receipts'], Trace[]]
      const recorded = { number, block, receipts, traces }
      blocks.push(recorded)
      const touched = await Promise.all(
        [...touchedBy(recorded)].map(async address => ({ address, state: await readState(address, number) }))
      )
      for (const { address, state } of touched) {
        const known = states.get(address) ?? []
        states.set(address, known)
        if (known.at(-1)?.slice(1).join() !== state.slice(1).join()) known.push(state)
      }
    },
    async skip(count) {
      if (count > 0) await rpc('anvil_mine', `0x${count.toString(16)}`)
    },
    async recorded() {
      const genesis = (await rpc('eth_getBlockByNumber', '0x0', false)) as Json
      return { head: await readNumber(), genesis, blocks, states: Object.fromEntries(states) }
    }
  }
}

function touchedBy({ block, receipts, traces }: RecordedBlock): ReadonlySet<string> {
  const transactions = block.transactions.map(raw => ({ hash: raw.hash as `0x${string}`, raw }))
  const signed = readAuthorizations(transactions, recover)
  const named = [
    block.miner,
    ...block.transactions.flatMap(({ from, to }) => [from, to]),
    ...receipts.map(({ contractAddress }) => contractAddress),
    ...traces.flatMap(partiesOf),
    ...[...signed.values()].flat().map(({ authority }) => authority)
  ]
  return new Set(named.filter(isAddress).map(address => address.toLowerCase()))
}

/** Everybody who takes part in a call, a creation or the end of a contract. */
export function partiesOf({ action, result }: Trace): readonly unknown[] {
  return [action.from, action.to, action.address, action.refundAddress, result?.address]
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && value.length === 42
}
