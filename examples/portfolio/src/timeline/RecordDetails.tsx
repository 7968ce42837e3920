import { isConfirmed, type TransactionRecord } from '@chain-data/client/fetch'
import { Amount } from '../shared/Amount.tsx'
import { CopyButton } from '../shared/CopyButton.tsx'
import { Fact } from '../shared/Fact.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import type { Description, Move } from './describeRecord.ts'
import { type Currency, MoveAmount, NativeAmount } from './MoveAmount.tsx'
import type { Tokens } from './useTokens.ts'

const typeNames = ['legacy', 'access list', 'fee market', 'blob', 'set code']
const gweiDecimals = 9

/** Everything of a transaction that is not in its row. */
export function RecordDetails({
  record,
  told,
  chainId,
  currency,
  tokens
}: {
  record: TransactionRecord
  told: Description
  chainId: number
  currency: Currency
  tokens: Tokens
}) {
  const confirmed = isConfirmed(record) ? record : undefined
  const inputBytes = (record.data.length - 2) / 2
  const gasLimit = record.gasLimitString ?? String(record.gasLimit)
  return (
    <>
      {(told.moves.length > 1 || told.moves.some(({ isInternal }) => isInternal)) && (
        <ul className="allMoves">
          {told.moves.map((move, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: moves of a record never change their places.
            <li key={place}>
              <MoveAmount move={move} tokens={tokens} currency={currency} />{' '}
              <Partner {...{ move, chainId }} />
            </li>
          ))}
        </ul>
      )}
      <dl className="recordFacts">
        <Fact name="From">
          <ShortAddress address={record.from} chainId={chainId} />
        </Fact>
        {record.to !== undefined && (
          <Fact name="To">
            <ShortAddress address={record.to} chainId={chainId} />
          </Fact>
        )}
        {confirmed?.blockNumber !== undefined && (
          <Fact name="Block">{shownInteger(confirmed.blockNumber)}</Fact>
        )}
        {told.feeWei !== undefined && (
          <Fact name="Fee">
            <NativeAmount value={told.feeWei} currency={currency} />
          </Fact>
        )}
        <Fact name="Nonce">{shownInteger(BigInt(record.nonceString ?? record.nonce))}</Fact>
        <Fact name="Type">
          {record.type} {typeNames[record.type] && `(${typeNames[record.type]})`}
        </Fact>
        <Fact name="Gas">
          {confirmed?.gasSpent !== undefined && `${shownInteger(BigInt(confirmed.gasSpent))} used of `}
          {shownInteger(BigInt(gasLimit))}
          {confirmed?.gasSpent === undefined && ' at most'}
        </Fact>
        {record.gasPrice !== undefined && (
          <Fact name="Gas price">
            <Amount value={BigInt(record.gasPrice)} decimals={gweiDecimals} unit="gwei" />
          </Fact>
        )}
        {confirmed === undefined && record.maxFeePerGas !== undefined && (
          <Fact name="Gas price">
            at most <Amount value={BigInt(record.maxFeePerGas)} decimals={gweiDecimals} unit="gwei" />
          </Fact>
        )}
        <Fact name="Input">
          {shownInteger(inputBytes)} bytes
          {inputBytes > 0 && <CopyButton text={record.data} label="input" />}
        </Fact>
        {confirmed !== undefined && confirmed.transfers === undefined && (
          <Fact name="Tokens">not known of this block</Fact>
        )}
        {confirmed !== undefined && confirmed.internal === undefined && (
          <Fact name="Payments by contracts">not known of this block</Fact>
        )}
      </dl>
    </>
  )
}

function Partner({ move, chainId }: { move: Move; chainId: number }) {
  const how = move.isInternal === true ? 'by a contract, ' : ''
  if (move.direction === 'self') return <span className="quiet">{how}to itself</span>
  if (move.partner === undefined) {
    return <span className="quiet">{move.direction === 'in' ? 'newly minted' : 'burned'}</span>
  }
  return (
    <span className="quiet">
      {how}
      {move.direction === 'in' ? 'from' : 'to'} <ShortAddress address={move.partner} chainId={chainId} />
    </span>
  )
}
