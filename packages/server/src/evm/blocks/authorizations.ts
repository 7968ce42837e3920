import type { Address, EvmTransaction, Hash } from '@chain-data/index'
import { addressBytes } from '@chain-data/index/record'
import { RLP } from '@ethereumjs/rlp'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readQuantity,
  smallQuantity
} from '../../nodes/evm/rawFields.ts'
import { readAuthorizationTuple } from './roots/readAuthorizationTuple.ts'
import type { RecoverSender } from './roots/recoverSender.ts'

/** An EIP-7702 authorization for this chain: the account that signed it, and the nonce that it uses if it is valid. */
interface Authorization {
  readonly authority: Address
  readonly nonce: bigint
}

/** Authorizations of each transaction that has any. */
export type SignedAuthorizations = ReadonlyMap<Hash, readonly Authorization[]>

/** Nonces of each authority of a block: before and after the block. */
export type AuthorityNonces = ReadonlyMap<Address, { readonly before: bigint; readonly after: bigint }>

/** EIP-7702. */
const setCodeType = 4
/** What a signer of an authorization writes before it (EIP-7702). */
const setCodeMagic = Buffer.of(5)
/** An authorization with this nonce is never valid (EIP-2681). */
const lastNonce = 2n ** 64n - 1n
/** Half the order of secp256k1's group (EIP-2). */
const highestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * Reads the signed authorizations of a block. One for another chain, or with a signature that recovers no signer or has its `s`
 * in the upper half (EIP-2), is left out. Whether the others are valid depends on nonces: see `findAuthorities`.
 *
 * @remarks Never throws. Each authorization costs the recovery of its signer.
 */
export function readAuthorizations(
  transactions: readonly { readonly hash: Hash; readonly raw: RawObject }[],
  recover: RecoverSender
): SignedAuthorizations {
  const signed = new Map<Hash, readonly Authorization[]>()
  for (const { hash, raw } of transactions) {
    const { authorizationList, chainId } = raw
    if (!Array.isArray(authorizationList) || !mayAuthorize(raw)) continue
    const list = authorizationList.map(tuple => readAuthorization(tuple, chainId, recover))
    const known = list.filter(authorization => authorization !== undefined)
    if (known.length > 0) signed.set(hash, known)
  }
  return signed
}

/** Reports whether a transaction is of the type that carries authorizations. */
export function mayAuthorize({ type }: RawObject): boolean {
  return smallQuantity(type) === setCodeType
}

/** What is known of the authorizations of a block. */
export interface BlockAuthorizations {
  readonly signed: SignedAuthorizations
  /** Of each authority; absent: not known. */
  readonly nonces?: AuthorityNonces
}

/** Accounts that have a transaction in their history as authorities. */
interface FoundAuthorities {
  readonly authorities: ReadonlyMap<Hash, readonly Address[]>
  /** Some authorities could not be checked: they are among the others, valid or not. */
  readonly isUnchecked: boolean
}

/**
 * Finds the authorities of valid authorizations: those with the nonce that the authority has at that point. It is followed
 * through the block from the nonce before it, over the authority's own transactions and earlier authorizations, and has to end
 * at the nonce after the block. Where it does not (contracts that delegated code created use nonces too), or no nonces are
 * known, every authorization of that authority counts: a history may have too much then, and never too little.
 *
 * @param transactions - all of the block, in order.
 */
export function findAuthorities(
  transactions: readonly Pick<EvmTransaction, 'hash' | 'from' | 'nonce'>[],
  { signed, nonces }: BlockAuthorizations
): FoundAuthorities {
  const current = new Map(Array.from(nonces ?? [], ([authority, { before }]) => [authority, before]))
  const valid = new Set<Authorization>()
  for (const { hash, from, nonce: ownNonce } of transactions) {
    // The sender's nonce grows before the authorizations of its transaction are checked.
    if (current.has(from)) current.set(from, ownNonce + 1n)
    for (const authorization of signed.get(hash) ?? []) {
      const { authority, nonce } = authorization
      if (current.get(authority) !== nonce) continue
      current.set(authority, nonce + 1n)
      valid.add(authorization)
    }
  }
  const isChecked = ({ authority }: Authorization) =>
    nonces !== undefined && nonces.get(authority)?.after === current.get(authority)
  const authorities = new Map<Hash, readonly Address[]>()
  let isUnchecked = false
  for (const [hash, list] of signed) {
    const counted = list.filter(each => valid.has(each) || !isChecked(each))
    if (counted.length > 0)
      authorities.set(
        hash,
        counted.map(({ authority }) => authority)
      )
    isUnchecked ||= !list.every(isChecked)
  }
  return { authorities, isUnchecked }
}

/** Recovers the signer of an authorization. @returns `undefined` where it is for another chain, or has no signer. */
function readAuthorization(
  tuple: unknown,
  ownChainId: unknown,
  recover: RecoverSender
): Authorization | undefined {
  try {
    const raw = readAuthorizationTuple(tuple, 'authorization')
    const chainId = readQuantity(raw.chainId, 'chainId')
    if (chainId !== 0n && !isAbsent(ownChainId) && chainId !== readQuantity(ownChainId, 'chainId')) {
      return undefined
    }
    const nonce = readQuantity(raw.nonce, 'nonce')
    const address = readAddress(raw.address, 'address')
    const yParity = readQuantity(raw.yParity, 'yParity')
    if (nonce >= lastNonce || yParity > 1n) return undefined
    const [r, s] = [readQuantity(raw.r, 'r'), readQuantity(raw.s, 's')]
    if (s > highestS) return undefined
    const message = Buffer.concat([setCodeMagic, RLP.encode([chainId, addressBytes(address), nonce])])
    const authority = recover({ message, parity: Number(yParity), r, s })
    return authority && { authority, nonce }
  } catch {
    // The chain skips a malformed authorization too, and one without a signer.
    return undefined
  }
}
