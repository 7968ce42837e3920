import type { NativeParts, HistoryCertificate as WireCertificate } from '@chain-data/protocol'

/** Members of a certificate that are decimal digits on the wire. */
type AmountName = keyof NativeParts | 'computed' | 'balance' | 'difference' | 'count' | 'nonce' | 'tokenId'

/** The same with an exact integer in place of each text of digits. */
type Exact<T> = T extends readonly (infer Item)[]
  ? Exact<Item>[]
  : T extends object
    ? {
        [Name in keyof T]: Name extends AmountName
          ? T[Name] extends string | undefined
            ? bigint
            : Exact<T[Name]>
          : Exact<T[Name]>
      }
    : T

/**
 * What proves that the history of an account is complete and unaltered, at one block. Amounts are exact: wei, base units of a token,
 * nonces and token ids are `bigint`; heights and counts are numbers.
 *
 * @remarks `JSON.stringify` refuses a `bigint`; the `text` of `onAnswer` is the certificate as it came.
 */
export type HistoryCertificate = Exact<WireCertificate>
