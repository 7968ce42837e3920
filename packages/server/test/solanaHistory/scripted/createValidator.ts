import type { RpcTransport } from '@solana/kit'
import type { Reaction, RpcCall } from '../../solana/startScriptedNode.ts'
import type { Ledger, LedgerBlock, LedgerTransaction } from './createLedger.ts'
import { fromBase58 } from './names.ts'
import { tokenAccountData } from './State.ts'

/** What a node does otherwise than one with the whole ledger. */
export interface ValidatorOptions {
  /** Signatures that its lists leave out; it still answers for them by name. */
  readonly omits?: ReadonlySet<string>
  /** Its oldest block. Default: it has all. */
  readonly firstSlot?: number
  /** Its newest finalized slot. Default: the newest. */
  readonly finalizedSlot?: number
}

interface Options {
  readonly limit?: number
  readonly before?: string
  readonly until?: string
  readonly commitment?: string
  readonly encoding?: string
  readonly transactionDetails?: string
  readonly maxSupportedTransactionVersion?: number
  readonly programId?: string
  readonly rewards?: boolean
}

/**
 * Answers JSON-RPC calls about a ledger as a validator does.
 *
 * @remarks Lists are newest first by slot and index; `before` may be any signature that the node has, and an unknown one
 *   gives an empty list; an unknown `until` is ignored.
 */
export function createValidator(ledger: Ledger, options: ValidatorOptions = {}): (call: RpcCall) => Reaction {
  const { omits = new Set(), firstSlot = 0 } = options
  const has = ({ slot }: { slot: number }) => slot >= firstSlot
  const headSlot = () => ledger.blocks.at(-1)?.slot ?? 0
  const finalizedSlot = () => options.finalizedSlot ?? headSlot()
  let indexed = 0
  const bySignature = new Map<string, LedgerTransaction>()
  const byAddress = new Map<string, LedgerTransaction[]>()
  const bySlot = new Map<number, LedgerBlock>()

  /** Brings the lists to the ledger as it is now; the newest block may have grown. */
  function index() {
    for (; indexed < ledger.blocks.length; indexed++) {
      const block = ledger.blocks[indexed]!
      bySlot.set(block.slot, block)
      for (const transaction of block.transactions) {
        if (bySignature.has(transaction.signature)) continue
        bySignature.set(transaction.signature, transaction)
        for (const key of new Set(transaction.keys)) {
          const list = byAddress.get(key)
          if (list === undefined) byAddress.set(key, [transaction])
          else list.push(transaction)
        }
      }
    }
    indexed = Math.max(0, ledger.blocks.length - 1)
  }

  function listSignatures(address: string, { limit = 1000, before, until, commitment }: Options) {
    if (limit < 1 || limit > 1000) return undefined
    const from = before === undefined ? undefined : bySignature.get(before)
    if (before !== undefined && (from === undefined || !has(from))) return []
    const to = until === undefined ? undefined : bySignature.get(until)
    const newest = commitment === 'confirmed' ? headSlot() : finalizedSlot()
    const found: LedgerTransaction[] = []
    const all = byAddress.get(address) ?? []
    for (let at = all.length - 1; at >= 0 && found.length < limit; at--) {
      const each = all[at]!
      if (!has(each) || (to !== undefined && compare(each, to) <= 0)) break
      if (each.slot > newest || (from !== undefined && compare(each, from) >= 0)) continue
      if (!omits.has(each.signature)) found.push(each)
    }
    return found.map(({ signature, slot, err, memo }) => ({
      ...{ signature, slot, err, memo, blockTime: bySlot.get(slot)!.blockTime },
      confirmationStatus: slot <= finalizedSlot() ? 'finalized' : 'confirmed'
    }))
  }

  const bodies = {
    transaction: ({ signature, message }: LedgerTransaction) => ({ signatures: [signature], message })
  }

  function answer({ method, params }: RpcCall): Answer {
    const [first, second] = params as [never, Options | undefined]
    const wanted = second ?? {}
    switch (method) {
      case 'getSignaturesForAddress': {
        const list = listSignatures(first, wanted)
        return list === undefined ? fail(-32_602, 'Invalid limit') : { result: list }
      }
      case 'getTransaction': {
        const found = bySignature.get(first)
        if (found === undefined || !has(found)) return { result: null }
        if (!isSupported(found, wanted)) return unsupported
        const { slot, meta, version } = found
        const { blockTime } = bySlot.get(slot)!
        return {
          result: {
            slot,
            blockTime,
            meta,
            transaction: bodies.transaction(found),
            version
          }
        }
      }
      case 'getBlock': {
        const block = bySlot.get(first)
        if (first < firstSlot)
          return fail(
            -32_001,
            `Block ${first} cleaned up, does not exist on node. First available block: ${firstSlot}`
          )
        if (block === undefined)
          return fail(-32_007, `Slot ${first} was skipped, or missing due to ledger jump to recent snapshot`)
        const { slot, parentSlot, blockTime, transactions, rewards } = block
        const head = {
          ...{ blockhash: String(slot), previousBlockhash: String(parentSlot), parentSlot },
          ...{ blockTime, blockHeight: slot, ...(wanted.rewards !== false && { rewards }) }
        }
        const details = wanted.transactionDetails ?? 'full'
        if (details === 'none') return { result: head }
        if (details === 'signatures') {
          return { result: { ...head, signatures: transactions.map(({ signature }) => signature) } }
        }
        if (transactions.some(each => !isSupported(each, wanted))) return unsupported
        return {
          result: {
            ...head,
            transactions: transactions.map(each => ({
              ...{ meta: each.meta, transaction: bodies.transaction(each), version: each.version }
            }))
          }
        }
      }
      case 'getBlocks': {
        const last = typeof second === 'number' ? second : headSlot()
        return {
          result: [...bySlot.keys()].filter(slot => slot >= first && slot <= last && slot >= firstSlot)
        }
      }
      case 'getSignatureStatuses':
        return inContext(
          (first as string[]).map(signature => {
            const found = bySignature.get(signature)
            if (found === undefined || !has(found)) return null
            return { slot: found.slot, confirmations: null, err: found.err, confirmationStatus: 'finalized' }
          })
        )
      case 'getBlockTime':
        return { result: bySlot.get(first)?.blockTime ?? null }
      case 'getSlot':
        return {
          result: (first as Options | undefined)?.commitment === 'confirmed' ? headSlot() : finalizedSlot()
        }
      case 'getFirstAvailableBlock':
      case 'minimumLedgerSlot':
        return { result: firstSlot }
      case 'getBalance':
        return inContext(ledger.state.lamports.get(first) ?? 0n)
      case 'getTokenAccountsByOwner':
        return inContext(
          [...ledger.state.tokens.values()]
            .filter(({ owner, mint }) => owner === first && mint.program === wanted.programId)
            .map(({ address }) => ({ pubkey: address, account: accountJson(address) }))
        )
      case 'getMultipleAccounts':
        return inContext((first as string[]).map(accountJson))
      case 'getAccountInfo':
        return inContext(accountJson(first))
      default:
        return fail(-32_601, 'Method not found')
    }
  }

  const inContext = (value: unknown): Answer => ({
    result: { context: { slot: headSlot(), apiVersion: '3.1.0' }, value }
  })

  function accountJson(address: string) {
    const lamports = ledger.state.lamports.get(address) ?? 0n
    if (lamports === 0n) return null
    const token = ledger.state.tokens.get(address)
    const data = token === undefined ? Buffer.alloc(0) : tokenAccountData(token, fromBase58)
    const owner = token?.mint.program ?? '11111111111111111111111111111111'
    return {
      data: [data.toString('base64'), 'base64'],
      executable: false,
      lamports,
      owner,
      rentEpoch: 0,
      space: data.length
    }
  }

  return call => {
    index()
    return { body: writeExact({ jsonrpc: '2.0', id: call.id, ...answer(call) }) }
  }
}

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

const fail = (code: number, message: string): Answer => ({ error: { code, message } })

const unsupported = fail(
  -32_015,
  'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0'
)

const isSupported = ({ version }: LedgerTransaction, { maxSupportedTransactionVersion }: Options) =>
  version === 'legacy' || maxSupportedTransactionVersion !== undefined

const compare = (a: LedgerTransaction, b: LedgerTransaction) => a.slot - b.slot || a.index - b.index

/** JSON with every digit of integers beyond 2^53. */
function writeExact(value: unknown): string {
  const mark = '\u0001'
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? `${mark}${each}${mark}` : each
  )
  return text.replaceAll(/"\\u0001(\d+)\\u0001"/g, '$1')
}

/** Carries calls of `@solana/kit` to a node of this process. */
export function createTransport(react: (call: RpcCall) => Reaction): RpcTransport {
  return async <Response>({ payload }: Parameters<RpcTransport>[0]) => {
    const plain = JSON.stringify(payload, (_, each: unknown) =>
      typeof each === 'bigint' ? Number(each) : each
    )
    const { body } = react(JSON.parse(plain) as RpcCall) as { body: string }
    return JSON.parse(body) as Response
  }
}
