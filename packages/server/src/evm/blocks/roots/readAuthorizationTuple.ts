import { type RawObject, readObject } from '../../../nodes/evm/rawFields.ts'

/**
 * Reads an EIP-7702 authorization. Nodes built on Frontier (Bittensor) put its signature into an object and call the parity
 * `odd_y_parity`.
 * @returns its members under their usual names.
 * @throws {NodeContradictionError} it is not an object.
 */
export function readAuthorizationTuple(entry: unknown, where: string): RawObject {
  const tuple = readObject(entry, where)
  if (tuple.signature === undefined) return tuple
  const { odd_y_parity, r, s } = readObject(tuple.signature, where, 'signature')
  return { ...tuple, chainId: tuple.chain_id, yParity: odd_y_parity === true ? '0x1' : '0x0', r, s }
}
