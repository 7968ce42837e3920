import { AccountRefusal, BorshReader } from './borshReader.ts'
import { EXTENSION_INTEREST_BEARING, EXTENSION_SCALED_UI_AMOUNT } from './tokenExtensions.ts'

/** The issuer lets balances be shown multiplied: after a split, say, or for what a share has earned. */
interface ScaledUiAmount {
  readonly multiplier: number
  /** Replaces `multiplier` from the time of the next field on; the same number when nothing is planned. */
  readonly newMultiplier: number
  /** Unix seconds. */
  readonly newMultiplierEffectiveTimestamp: number
}

/** The issuer lets balances be shown with continuously compounded interest. Rates in hundredths of a percent a year. */
interface InterestBearing {
  /** Unix seconds, as the other time. */
  readonly initializationTimestamp: number
  /** From the first to the second time. */
  readonly preUpdateAverageRate: number
  readonly lastUpdateTimestamp: number
  /** From the second time on. */
  readonly currentRate: number
}

/** The form in which a mint wants amounts shown, where it is not plain base units over 10^decimals. Amounts themselves never change. */
export interface UiAmount {
  readonly scaledUiAmount?: ScaledUiAmount
  readonly interestBearing?: InterestBearing
}

/**
 * Reads how the holdings of a Token-2022 mint are to be shown; empty for most mints.
 *
 * @throws {AccountRefusal}
 * @see Token-2022 `scaled_ui_amount::ScaledUiAmountConfig`, `interest_bearing_mint::InterestBearingConfig`
 */
export function readUiAmount(extensions: ReadonlyMap<number, Uint8Array>): UiAmount {
  const scaled = extensions.get(EXTENSION_SCALED_UI_AMOUNT)
  const interest = extensions.get(EXTENSION_INTEREST_BEARING)
  return {
    ...(scaled === undefined ? {} : { scaledUiAmount: readScaledUiAmount(scaled) }),
    ...(interest === undefined ? {} : { interestBearing: readInterestBearing(interest) })
  }
}

function readScaledUiAmount(value: Uint8Array): ScaledUiAmount {
  const reader = readerAfterAuthority(value)
  const multiplier = readMultiplier(reader)
  const newMultiplierEffectiveTimestamp = readSeconds(reader)
  return { multiplier, newMultiplier: readMultiplier(reader), newMultiplierEffectiveTimestamp }
}

function readInterestBearing(value: Uint8Array): InterestBearing {
  const reader = readerAfterAuthority(value)
  return {
    initializationTimestamp: readSeconds(reader),
    preUpdateAverageRate: reader.i16(),
    lastUpdateTimestamp: readSeconds(reader),
    currentRate: reader.i16()
  }
}

function readerAfterAuthority(value: Uint8Array): BorshReader {
  const reader = new BorshReader(value)
  reader.bytes(32)
  return reader
}

/** The program takes positive, finite numbers only; NaN and infinity have no JSON form either. */
function readMultiplier(reader: BorshReader): number {
  const multiplier = reader.f64()
  if (Number.isFinite(multiplier) && multiplier > 0) return multiplier
  throw new AccountRefusal('MALFORMED', `multiplier ${multiplier}`)
}

/** A time that a number cannot hold lies further away than the chain will exist. */
function readSeconds(reader: BorshReader): number {
  const seconds = Number(reader.i64())
  if (Number.isSafeInteger(seconds)) return seconds
  throw new AccountRefusal('MALFORMED', `time ${seconds}`)
}
