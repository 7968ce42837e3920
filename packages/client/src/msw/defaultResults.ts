import {
  type ConfirmedTransaction,
  type EndpointPath,
  type HistoryPage,
  type IncludedPart,
  isConfirmed,
  type MethodName,
  type MethodParams,
  type MethodResult,
  type TransactionHistory
} from '@chain-data/protocol'
import { examples } from '@chain-data/protocol/examples'
import { type Fault, rpcFault } from './Fault.ts'
import type { MockResult } from './MockOptions.ts'

/** What the document's examples answer to a call; `chainId` is absent only where a method needs none. */
export interface ExampleCall<M extends MethodName> {
  readonly params: MethodParams<M>
  readonly endpoint: EndpointPath
  readonly chainId: number | undefined
}

type HistoryRecord = TransactionHistory<number | bigint>[number]

/**
 * The answer of the document's examples: to the same params the same result, to others the first example,
 * restricted to what was asked for where the method restricts its answer.
 */
export function defaultResult<M extends MethodName>(
  call: ExampleCall<M> & { readonly method: M }
): MockResult<M> | Fault {
  const { method, params } = call
  return restricted[method]?.(call) ?? ((findExample(method, params) ?? first(method)) as MockResult<M>)
}

const restricted: {
  readonly [M in MethodName]?: (call: ExampleCall<M>) => MockResult<M> | Fault
} = {
  svc_getTransactionsByAddress: ({ params }) => {
    const [address, options] = params
    const example =
      findExample('svc_getTransactionsByAddress', [address]) ?? first('svc_getTransactionsByAddress')
    return pageOf(example.map(withDetails), options)
  },
  svc_getTokensAndNFTs: ({ params }) => {
    const [, listed = []] = params
    const example = findExample('svc_getTokensAndNFTs', params)
    const all = first('svc_getTokensAndNFTs')
    if (example !== undefined || listed.length === 0) return example ?? all
    const wanted = new Set(listed.map(address => address.toLowerCase()))
    const isWanted = ({ address }: { readonly address: string }) => wanted.has(address.toLowerCase())
    return { ...all, tokens: all.tokens.filter(isWanted), nfts: all.nfts.filter(isWanted) }
  },
  enhancedGetTokensAndNFTs: ({ params }) => {
    const wantsUris = asksForUris(params)
    const example = examples.enhancedGetTokensAndNFTs.find(each => asksForUris(each.params) === wantsUris)
    return example?.result ?? first('enhancedGetTokensAndNFTs')
  },
  svc_getSyncStatus: ({ endpoint, chainId }) => {
    const ofEndpoint = examples.svc_getSyncStatus.filter(each => each.endpoint === endpoint)
    const example = ofEndpoint.find(each => each.chainId === chainId) ?? ofEndpoint[0]
    const status = example?.result ?? first('svc_getSyncStatus')
    return { ...status, ...(chainId === undefined ? {} : { chainId }) }
  },
  svc_verifyHistory: ({ params }) =>
    findExample('svc_verifyHistory', params) ?? { ...first('svc_verifyHistory'), address: params[0] },
  svc_verifySolanaHistory: ({ params }) =>
    findExample('svc_verifySolanaHistory', params) ?? {
      ...first('svc_verifySolanaHistory'),
      address: params[0]
    }
}

/**
 * One page of a history, as the service cuts it: records have `transfers`, `internal` and `operations` only where they are asked for.
 *
 * @returns INVALID_PARAMS for a cursor that is no confirmed record of the history.
 */
export function pageOf(
  history: TransactionHistory<number | bigint>,
  page: HistoryPage = {}
): TransactionHistory<number | bigint> | Fault {
  const { limit = history.length, before, include = [] } = page
  const shown = history.map(record => withAttached(record, include))
  if (before === undefined) return shown.slice(0, limit)
  const confirmed = shown.filter(record => isConfirmed(record))
  const index = confirmed.findIndex(({ hash }) => hash.toLowerCase() === before.toLowerCase())
  if (index < 0) {
    return rpcFault('INVALID_PARAMS', {
      extraMessage: '/params/1/before is no confirmed transaction of this address.',
      path: '/params/1/before'
    })
  }
  return confirmed.slice(index + 1, index + 1 + limit)
}

/** A record with what was asked for attached, as far as it is known. */
function withAttached(record: HistoryRecord, include: readonly IncludedPart[]): HistoryRecord {
  const { transfers, internal, operations, ...rest } = record as ConfirmedTransaction<number | bigint>
  if (!isConfirmed(record)) return record
  return {
    ...rest,
    ...(transfers && include.includes('transfers') && { transfers }),
    ...(internal && include.includes('internal') && { internal }),
    ...(operations && include.includes('operations') && { operations })
  }
}

/** A record of an example with everything that the examples tell of its transaction. */
function withDetails(record: HistoryRecord): HistoryRecord {
  if (!isConfirmed(record)) return record
  const others = examples.svc_getTransactionsByAddress
    .flatMap(({ result }) => result)
    .filter(other => other.hash === record.hash)
    .filter(other => isConfirmed(other))
  const transfers = others.find(other => other.transfers)?.transfers ?? []
  const internal = others.find(other => other.internal)?.internal ?? []
  const operations = others.find(other => other.operations)?.operations ?? []
  return { ...record, transfers, internal, operations }
}

function first<M extends MethodName>(method: M): MethodResult<M> {
  const [example] = examples[method]
  if (example === undefined) throw new Error(`the document has no example of ${method}`)
  return example.result
}

function findExample<M extends MethodName>(
  method: M,
  params: readonly unknown[]
): MethodResult<M> | undefined {
  const sought = keyOf(params)
  return examples[method].find(example => keyOf(example.params) === sought)?.result
}

/** Addresses of EVM chains count in any case. */
function keyOf(params: readonly unknown[]): string {
  return JSON.stringify(params).toLowerCase()
}

function asksForUris(params: MethodParams<'enhancedGetTokensAndNFTs'>): boolean {
  return /"parseMetadataUri":true/.test(JSON.stringify(params))
}
