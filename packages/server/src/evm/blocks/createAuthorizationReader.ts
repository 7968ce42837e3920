import { type Address, ChainDataError } from '@chain-data/index'
import { type NodeOutcome, quantityIn } from '../../nodes/evm/nodeCall.ts'
import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { type Clock, steadyClock } from '../../platform/clock.ts'
import { eachOnce } from '../../platform/eachOnce.ts'
import {
  type AuthorityNonces,
  type BlockAuthorizations,
  mayAuthorize,
  readAuthorizations
} from './authorizations.ts'
import { loadRecoverSender } from './roots/recoverSender.ts'
import type { VerifiedHeader } from './verification/verifiedBlock.ts'

/** A node without old state is asked again about old blocks after this time: it may have been exchanged. */
const forgetAfterMs = 10 * 60_000

type AskedHeader = Pick<VerifiedHeader, 'ref' | 'parentHash' | 'transactions'>

/** Asks for the nonces of accounts before and after a block; `undefined` where no node has its state. */
export type AskForNonces = (
  block: Pick<VerifiedHeader, 'ref' | 'parentHash'>,
  authorities: readonly Address[]
) => Promise<AuthorityNonces | undefined>

/**
 * Reads the authorizations of a block.
 * @param askForNonces - not called for a block without authorizations.
 */
export async function authorizationsOf(
  { ref, parentHash, transactions }: AskedHeader,
  askForNonces: AskForNonces
): Promise<BlockAuthorizations> {
  if (!transactions.some(({ raw }) => mayAuthorize(raw))) return { signed: new Map() }
  const signed = readAuthorizations(transactions, await loadRecoverSender())
  if (signed.size === 0) return { signed }
  const authorities = eachOnce([...signed.values()].flat().map(({ authority }) => authority))
  const nonces = await askForNonces({ ref, parentHash }, authorities)
  return nonces === undefined ? { signed } : { signed, nonces }
}

/** Reads the authorizations of blocks, and the nonces of their authorities. */
export type AuthorizationReader = ReturnType<typeof createAuthorizationReader>

/**
 * Creates a reader that bothers nodes without old state rarely: once refused, it asks again only about blocks half as old, so
 * that the backfill of a long chain is refused some twenty times.
 */
export function createAuthorizationReader(
  rpc: Pick<EvmRpc, 'batch'>,
  clock: Pick<Clock, 'now'> = steadyClock
) {
  let head = 0
  let refused: { readonly age: number; readonly atMs: number } | undefined

  async function askForNonces(
    { ref, parentHash }: Pick<VerifiedHeader, 'ref' | 'parentHash'>,
    authorities: readonly Address[],
    signal?: AbortSignal
  ): Promise<AuthorityNonces | undefined> {
    const age = Math.max(0, head - ref.number)
    if (refused !== undefined && clock.now() - refused.atMs > forgetAfterMs) refused = undefined
    if (refused !== undefined && 2 * age > refused.age) return undefined
    // By hash: a height may name another block after a reorg.
    const calls = authorities.flatMap(authority =>
      [parentHash, ref.hash].map(blockHash => ({
        method: 'eth_getTransactionCount',
        params: [authority, { blockHash }]
      }))
    )
    try {
      const outcomes = await rpc.batch(calls, { height: ref.number, ...(signal && { signal }) })
      const nonces = readNonces(authorities, outcomes)
      if (nonces !== undefined) return nonces
    } catch (error) {
      // Aborted: the caller learns of it by its own signal.
      if (!(error instanceof ChainDataError)) return undefined
    }
    refused = { age, atMs: clock.now() }
    return undefined
  }

  return {
    /** Notes the newest block of the node: how old a block is decides whether its state is asked for. */
    sawHead(number: number): void {
      head = number
    },
    /**
     * @returns no nonces where no node has the state of the block and its parent.
     * @remarks No call for a block without authorizations; else one batch of two calls for each authority. Never rejects, so
     *   that a block does not wait for state.
     */
    read: (header: AskedHeader, signal?: AbortSignal): Promise<BlockAuthorizations> =>
      authorizationsOf(header, (block, authorities) => askForNonces(block, authorities, signal)),
    /** Reads the nonces alone: of a block whose authorizations were read in another thread. Never rejects. */
    nonces: askForNonces
  }
}

function readNonces(
  authorities: readonly Address[],
  outcomes: readonly NodeOutcome[]
): AuthorityNonces | undefined {
  const nonces = new Map<Address, { before: bigint; after: bigint }>()
  for (const [i, authority] of authorities.entries()) {
    const [before, after] = [outcomes[2 * i], outcomes[2 * i + 1]].map(quantityIn)
    if (before === undefined || after === undefined) return undefined
    nonces.set(authority, { before, after })
  }
  return nonces
}
