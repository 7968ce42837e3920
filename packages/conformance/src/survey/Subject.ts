import type { EndpointPath, MethodName, MethodResult, TransactionRecord } from '@chain-data/protocol'
import type { Service } from '../wire/createService.ts'
import type { Exchange } from '../wire/Exchange.ts'
import type { Extension } from './extensions.ts'

/** A result and the exchange that brought it. */
export interface Reading<T> {
  readonly value: T
  /** The same with every digit. */
  readonly exact: unknown
  readonly exchange: Exchange
}

/** An address of an EVM chain that has a history. */
export interface EvmAccount {
  /** As its letters were found or given. */
  readonly address: string
  /** Of the address alone; only the newest records where `isWhole` is false. */
  readonly history: Reading<readonly TransactionRecord[]>
  /** False for a history too long to be read at once. */
  readonly isWhole: boolean
}

/** The service under examination, and what is known of it so far. Everything is asked for once, when it is needed. */
export interface Subject {
  readonly service: Service
  /** The chain that is looked at. */
  chainOf(endpoint: EndpointPath): Promise<number | undefined>
  offers(extension: Extension): Promise<boolean | undefined>
  /** Those with transactions, at most so many as were asked for. */
  evmAccounts(): Promise<readonly EvmAccount[]>
  /** Addresses to ask on Solana. */
  solanaAddresses(): Promise<readonly string[]>
  /** The addresses that were looked at so far. */
  lookedAt(): readonly string[]
  /**
   * The result of a call that has to succeed, on the chain of the method's endpoint.
   *
   * @throws {Broken} It was refused or failed.
   */
  read<M extends MethodName>(
    method: M,
    params: readonly unknown[],
    endpoint?: EndpointPath
  ): Promise<Reading<MethodResult<M>>>
}
