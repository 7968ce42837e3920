import {
  ChainDataError,
  noDescriptorCodes,
  StoreError,
  StoreLostError,
  StoreUnavailableError,
  storeFaults
} from '@chain-data/index'
import { ConfigError, NodeContradictionError, NodeRpcError, NodeUnavailableError } from './errors.ts'

/** Codes of the system, and the fault of a store, that say that a disk or its quota is full. */
const fullDiskCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', storeFaults.fullDisk]
const maxCauses = 8

/**
 * Describes the cause of a failure that may pass, and the next step, for callers: no URL, path, SQL or words of a node.
 *
 * @returns `undefined` for a bug.
 */
export function describeCause(failure: unknown): string | undefined {
  const resource = describeResource(failure)
  if (resource !== undefined) return resource
  if (failure instanceof NodeUnavailableError) return describeSilence(failure)
  if (failure instanceof NodeContradictionError) return describeContradiction(failure)
  // Of a running server's parts only the pool of a chain's nodes throws it, and has named the node in the log.
  if (failure instanceof ConfigError)
    return "The chain's node serves another chain: its host has to correct that."
  if (failure instanceof NodeRpcError) return describeRefusal(failure)
  if (failure instanceof StoreLostError) {
    return `${failure.message.charAt(0).toUpperCase()}${failure.message.slice(1)}.`
  }
  if (failure instanceof StoreUnavailableError) {
    return "The database of the chain's index cannot be reached at the moment. Try again."
  }
  // Servers of the other build can read it, and the same call may come to one of them next.
  if (failure instanceof StoreError && failure.context.expectedFormat !== undefined) {
    return "The chain's index was written by another build of this server: its host has to begin it anew, or to run that build."
  }
  return undefined
}

/** Describes what the server itself has run out of; `undefined` where it has not. */
export function describeResource(failure: unknown): string | undefined {
  if (lacksDescriptors(failure)) {
    return 'The server is out of file descriptors. Try again; its limit of open files (ulimit -n) has to be raised.'
  }
  if (codesOf(failure).some(code => fullDiskCodes.includes(code))) {
    return "The disk of the chain's index is full: space has to be freed there."
  }
  return undefined
}

/** Reports whether a failure comes from a lack of file descriptors: an overload, which passes. */
export function lacksDescriptors(failure: unknown): boolean {
  return codesOf(failure).some(code => noDescriptorCodes.includes(code))
}

/** Lists the codes of a failure and of its causes. */
function codesOf(failure: unknown): readonly unknown[] {
  const codes: unknown[] = []
  let error = failure
  for (let depth = 0; error instanceof Error && depth < maxCauses; depth++) {
    if ('code' in error) codes.push(error.code)
    // An error that came from another thread has its code in its name.
    codes.push(/\[(\w+)\]$/.exec(error.name)?.[1])
    if (error instanceof ChainDataError) {
      codes.push(error.context.systemCode, error.context.fault)
    }
    error = error.cause
  }
  return codes
}

const silences: Readonly<Record<string, string>> = {
  unreachable: "The chain's node cannot be reached.",
  timedOut: "The chain's node did not answer in time.",
  behind: "The chain's node is behind the newest block.",
  busy: "The chain's node has as many calls as it may get at once.",
  throttled: "The chain's node limits the rate of calls.",
  exhausted: "The quota of the chain's node is used up.",
  refused: "The chain's node does not accept the credentials or the address of the server.",
  tooLarge: "The answer of the chain's node is larger than may be read.",
  malformed: "The address of the chain's node does not answer as a node."
}

function describeSilence({ context }: NodeUnavailableError): string {
  const silence = silences[String(context.fault)] ?? "The chain's node is not available."
  return `${silence} Try again later.`
}

function describeContradiction({ context }: NodeContradictionError): string {
  const { blockNumber, isMissing, keptFrom } = context
  const block = blockNumber === undefined ? '' : ` about block ${blockNumber}`
  const kept =
    keptFrom === undefined ? '' : ` History is kept from block ${keptFrom} on, and read on from there.`
  if (isMissing !== true) return `The chain's node contradicts itself${block}. Try again later.${kept}`
  return `The chain's node does not have block ${blockNumber} or its receipts: it lags, or has pruned them.`
}

function describeRefusal({ rpcCode, context }: NodeRpcError): string {
  const { method, nodeMessage } = context
  if (nodeMessage === 'missingData') {
    return "The chain's node does not have the block or state that this answer needs: it lags, or has pruned them."
  }
  const call = method === undefined ? 'a call that this method needs' : `${method}, which this method needs`
  return `The chain's node refused ${call} (error ${rpcCode}).`
}
