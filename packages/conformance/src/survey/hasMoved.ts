import { differenceOf } from '../checks/differenceOf.ts'
import type { EvmAccount, Subject } from './Subject.ts'

/**
 * Whether the chain went on in a way that changes what is held against each other: a history that was read is another
 * one now.
 *
 * @returns false where histories cannot be read.
 */
export async function hasMoved(subject: Subject): Promise<boolean> {
  try {
    const accounts = await subject.evmAccounts()
    return (await Promise.all(accounts.map(account => hasChanged(subject, account)))).includes(true)
  } catch {
    return false
  }
}

async function hasChanged(subject: Subject, { address, history, isWhole }: EvmAccount): Promise<boolean> {
  const params = isWhole ? [address] : [address, { limit: history.value.length }]
  const now = await subject.read('svc_getTransactionsByAddress', params)
  return differenceOf(now.exact, history.exact) !== undefined
}
