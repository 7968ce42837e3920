import { Connection, PublicKey } from '@solana/web3.js'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { NodeResult, WordedCall } from './exchange.ts'

/** @throws when `text` is no address. */
export function requireAddress(text: string): string {
  return new PublicKey(text).toBase58()
}

/**
 * The address that a program derives from these seeds, base58.
 * @remarks Hashes and tests curve points: some 150 us, so derive many in portions.
 */
export function findProgramAddress(seeds: readonly Uint8Array[], programId: string): string {
  return PublicKey.findProgramAddressSync([...seeds], new PublicKey(programId))[0].toBase58()
}

/**
 * Asks for a balance by a call that `Connection` words and checks. A Connection of its own holds no state for plain calls
 * and costs a few microseconds. The bytes do not go through its own fetch, so neither URLs nor their keys enter the
 * library (nor its console output).
 *
 * @returns the answer as text, where numbers are still exact.
 * @throws {NodeContradictionError} the library refuses its shape.
 */
export async function askBalance(
  address: string,
  config: { readonly commitment: 'processed' | 'confirmed' | 'finalized'; readonly minContextSlot?: number },
  send: (call: WordedCall) => Promise<NodeResult>
): Promise<NodeResult> {
  let result: NodeResult | undefined
  const connection = new Connection('http://node.invalid', {
    httpAgent: false,
    disableRetryOnRateLimit: true,
    fetch: async (_url, init) => {
      const body = String(init?.body)
      const { id, method } = JSON.parse(body) as { id: string; method: string }
      result = await send({ id, method, body })
      return new Response(result.text)
    }
  })
  await connection.getBalanceAndContext(new PublicKey(address), config).catch(error => {
    // Without a result it is the exchange that failed, with an error of its own.
    throw result === undefined
      ? error
      : new NodeContradictionError('the library refuses the shape of the answer')
  })
  if (result === undefined) throw new TypeError('the library did not ask')
  return result
}
