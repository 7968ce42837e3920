import type { EvmHoldings, TransactionRecord } from '@chain-data/client'
import { toQuantity } from 'ethers'
import type { EvmTransaction, EvmWorld } from '../evm/EvmWorld.ts'
import { evmBlockOf, evmFeeOf, evmHoldingsOf, wireStatusOf } from '../evm/evmTruth.ts'
import { expectedImage } from './expectedImage.ts'

/** A record of which what intent cannot know is left out. */
export type ExpectedRecord = Partial<TransactionRecord>

/**
 * The record a service must give for a transaction, made from the truth alone.
 *
 * Left out where intent cannot know it: `timestamp` while pending (when the service first saw it) and in a block
 * whose time the node chose; `gasPrice` and `fees` in a block whose base fee it chose; `gasSpent` and `fees` where
 * foreign code ran, unless `gasUsed` is given.
 *
 * @param gasUsed - From a receipt.
 */
export function expectedRecord(
  world: EvmWorld,
  transaction: EvmTransaction,
  gasUsed = transaction.gasUsed
): ExpectedRecord {
  const { hash, from, to, data, nonce, type, accessList, createdContract } = transaction
  const { maxFeePerGasWei, maxPriorityFeePerGasWei, gasPriceWei, effectiveGasPriceWei, position } =
    transaction
  const { maxFeePerBlobGasWei, blobVersionedHashes } = transaction
  const confirmed = position !== undefined
  const timestamp = confirmed ? evmBlockOf(world, transaction).timestampSeconds : undefined
  const gasPrice = confirmed ? effectiveGasPriceWei : gasPriceWei
  const fees = confirmed ? evmFeeOf(transaction, gasUsed) : undefined
  return withoutUndefined({
    ...{ hash, from, to, data, nonce, type, accessList, timestamp },
    value: toQuantity(transaction.valueWei),
    gasLimit: Number(transaction.gasLimit),
    status: wireStatusOf(transaction),
    maxFeePerGas: quantity(maxFeePerGasWei),
    maxPriorityFeePerGas: quantity(maxPriorityFeePerGasWei),
    maxFeePerBlobGas: quantity(maxFeePerBlobGasWei),
    blobVersionedHashes,
    gasPrice: quantity(gasPrice),
    gasSpent: confirmed ? quantity(gasUsed) : undefined,
    fees: quantity(fees),
    blockNumber: position?.blockNumber,
    contractAddress: confirmed ? createdContract : undefined
  }) as ExpectedRecord
}

/**
 * The tokens and NFTs a service must list for an account, made from the truth alone; in no particular order.
 *
 * `native` is not among them: see {@link evmNativeBalanceOf}.
 *
 * @param origin - Of the metadata host, which the service has to be allowed to read, also as its IPFS gateway.
 */
export function expectedEvmHoldings(
  world: EvmWorld,
  address: string,
  origin: string
): Pick<EvmHoldings, 'tokens' | 'nfts'> {
  const { tokens, nfts } = evmHoldingsOf(world, address)
  return {
    tokens: tokens.map(({ contract, amount }) => ({
      decimals: contract.decimals ?? 0,
      amount: amount.toString(),
      address: contract.address as `0x${string}`,
      name: contract.name,
      symbol: contract.symbol,
      image: ''
    })),
    nfts: nfts.map(({ contract, tokenId, balance, isSemiFungible, tokenUri, document }) => ({
      address: contract.address as `0x${string}`,
      isSemiFungible,
      tokenId: tokenId.toString(),
      tokenBalance: balance.toString(),
      tokenURI: tokenUri,
      name: typeof document?.json?.name === 'string' ? document.json.name : contract.name,
      symbol: contract.symbol,
      image: expectedImage(document?.json, origin),
      data: document?.json ?? {}
    }))
  }
}

function quantity(value: bigint | undefined): string | undefined {
  return value === undefined ? undefined : toQuantity(value)
}

function withoutUndefined(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
}
