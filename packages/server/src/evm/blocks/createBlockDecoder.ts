import { includeHeader, type RecomputedParts } from '../../model/rootParts.ts'
import type { WaivableCheck, Waiver } from '../../model/waivableChecks.ts'
import { idOf } from '../../nodes/evm/jsonRpc.ts'
import { isAbsent } from '../../nodes/evm/rawFields.ts'
import { type AskForNonces, authorizationsOf } from './createAuthorizationReader.ts'
import { type DecodedRows, readBlock, toRows } from './readBlock.ts'
import { createRootChecks, type RootChecks } from './roots/createRootChecks.ts'
import { createWaivers, withoutUnknown } from './verification/contradiction.ts'

/** What the blocks of a chain are held against besides themselves, as plain data. */
export interface DecoderSettings {
  readonly waivers: readonly Waiver[]
  /** Parts of each block that are recomputed; absent: none. */
  readonly roots?: RecomputedParts | undefined
}

/** The answer to a batch of `eth_getBlockByNumber` and `eth_getBlockReceipts` for one height, as the node sent it. */
export interface BlockAnswer {
  readonly number: number
  /** JSON-RPC ids of the two calls. */
  readonly ids: readonly number[]
  readonly body: readonly Uint8Array[]
}

export interface DecodedBlock extends DecodedRows {
  /** Each use of a waiver. */
  readonly waived: readonly WaivableCheck[]
}

/**
 * Reads a block as `fetchBlock` does, without a node.
 * @returns `undefined` for any other answer than both results, and for a block that is refused: why, is found out where
 *   another node can be asked.
 */
export type DecodeBlock = (
  answer: BlockAnswer,
  askForNonces: AskForNonces
) => Promise<DecodedBlock | undefined>

/** Creates the decoder of one chain. */
export function createBlockDecoder({ waivers, roots }: DecoderSettings): DecodeBlock {
  // Before anything counts as unknown, other nodes are asked.
  const allowed = withoutUnknown(createWaivers(waivers))
  let rootChecks: Promise<RootChecks> | undefined

  return async (answer, askForNonces) => {
    const waived: WaivableCheck[] = []
    const noted: typeof allowed = {
      passes(check, number) {
        const isWaived = allowed.passes(check, number)
        if (isWaived) waived.push(check)
        return isWaived
      }
    }
    try {
      const results = readResults(answer)
      if (results === undefined) return undefined
      if (roots !== undefined) rootChecks ??= createRootChecks(roots)
      const decoded = await readBlock(
        results.block,
        answer.number,
        (block, authorizations) => toRows(block, authorizations, includeHeader(roots?.parts ?? [])),
        { waivers: noted, roots: await rootChecks },
        {
          receipts: () => results.receipts,
          authorizations: header => authorizationsOf(header, askForNonces)
        }
      )
      return { ...decoded, waived }
    } catch {
      return undefined
    }
  }
}

/** Reads the two results; `undefined` where one is missing, null or an error. */
function readResults({ body, ids }: BlockAnswer): { block: unknown; receipts: unknown } | undefined {
  const answers: unknown = JSON.parse(Buffer.concat(body).toString())
  if (!Array.isArray(answers) || answers.length !== 2) return undefined
  const [block, receipts] = ids.map(id => resultOf(answers.find(each => idOf(each) === id)))
  return isAbsent(block) || isAbsent(receipts) ? undefined : { block, receipts }
}

function resultOf(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('result' in answer)) return undefined
  return 'error' in answer && answer.error !== null ? undefined : answer.result
}
