import type {
  Finding,
  HistoryCertificate,
  NativeCheck,
  NftCheck,
  SentCheck,
  TokenCheck,
  UnalteredCheck
} from '@chain-data/protocol'
import type { BlockAt } from '../../evm/state/pinBlock.ts'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import { present } from '../../platform/present.ts'
import type { CoverageBelow } from '../../server/methods/coverageBelow.ts'
import { knownFrom } from '../../server/methods/requireCurrent.ts'
import type { IndexedAccount } from './audit/Audit.ts'
import type { TokenResult } from './audit/checkTokens.ts'
import type { UnalteredResult } from './audit/checkUnaltered.ts'
import type { CertificateFinding } from './audit/Findings.ts'
import type { Certificate } from './audit/issueCertificate.ts'

/** Shapes a certificate as the wire has it. */
export function shapeCertificate(
  { verdict, complete, unaltered, index, sent, operations, native, tokens, findings }: Certificate,
  { account, from, to, indexedFrom, coverage, older, reason }: IndexedAccount & Pick<CoverageBelow, 'reason'>,
  at: BlockAt,
  formatAddress: FormatAddress
): HistoryCertificate {
  return {
    address: formatAddress(account),
    asOf: { blockNumber: at.number, blockHash: at.hash, timestamp: at.timestampSeconds },
    verdict,
    complete,
    unaltered: shapeUnaltered(unaltered),
    covers: {
      ...{ from, to, ...knownFrom(indexedFrom, coverage), ...(older && { indexedFrom: older.below }) },
      ...(older && older.lacks.length > 0 && { lacks: [...older.lacks] }),
      ...present({ reason })
    },
    index,
    sent: shapeSent(sent),
    operations,
    native: shapeNative(native),
    tokens: tokens.flatMap(token => shapeToken(token, formatAddress)),
    nfts: tokens.flatMap(token => shapeNft(token, formatAddress)),
    findings: findings.map(finding => shapeFinding(finding, formatAddress))
  }
}

function shapeUnaltered({ unknownParts, ...shown }: UnalteredResult): UnalteredCheck {
  return { ...shown, ...(unknownParts.length > 0 && { unknownParts: [...unknownParts] }) }
}

/** The texts of amounts; an amount that may be unknown has a text that may be absent. */
type Decimals<Amounts> = {
  readonly [Name in keyof Amounts as undefined extends Amounts[Name] ? never : Name]: string
} & { readonly [Name in keyof Amounts as undefined extends Amounts[Name] ? Name : never]?: string }

/** Writes amounts in decimal; unknown ones are left out. */
function decimals<Amounts extends object>(amounts: Amounts): Decimals<Amounts> {
  const known = Object.entries(amounts).filter(([, amount]) => amount !== undefined)
  return Object.fromEntries(known.map(([name, amount]) => [name, String(amount)])) as Decimals<Amounts>
}

function shapeSent({ verdict, opening, creations, count, ...counts }: Certificate['sent']): SentCheck {
  return {
    ...{ verdict, ...decimals({ opening }) },
    ...{ ...counts, creations: Number(creations), count: String(count) }
  }
}

function shapeNative({ verdict, opening, parts, computed, balance }: Certificate['native']): NativeCheck {
  const difference = computed === undefined ? undefined : balance - computed
  return {
    verdict,
    parts: decimals({ opening, ...parts }),
    ...decimals({ computed, difference, balance })
  }
}

/** Shapes the members that ERC-20 and NFT checks have in common. */
function shapeSums({ verdict, opening, received, sent, balance, explanation }: TokenResult) {
  const difference =
    balance === undefined || opening === undefined ? undefined : balance - opening - received + sent
  return {
    verdict,
    ...decimals({ opening, received, sent, balance, difference }),
    ...(explanation && { explanation })
  }
}

function shapeToken(result: TokenResult, formatAddress: FormatAddress): readonly TokenCheck[] {
  const { token, transfers } = result
  if (token.standard !== 'erc20') return []
  return [{ address: formatAddress(token.contract), transfers, ...shapeSums(result) }]
}

function shapeNft(result: TokenResult, formatAddress: FormatAddress): readonly NftCheck[] {
  const { standard, contract, tokenId } = result.token
  if (standard === 'erc20') return []
  return [
    {
      address: formatAddress(contract),
      standard: standard === 'erc721' ? 'ERC-721' : 'ERC-1155',
      ...(tokenId !== undefined && { tokenId: tokenId.toString() }),
      ...shapeSums(result)
    }
  ]
}

function shapeFinding(
  { kind, message, nonce, address, tokenId, ...position }: CertificateFinding,
  formatAddress: FormatAddress
): Finding {
  return {
    ...{ kind, message, ...position },
    ...(nonce !== undefined && { nonce: nonce.toString() }),
    ...(address !== undefined && { address: formatAddress(address) }),
    ...(tokenId !== undefined && { tokenId: tokenId.toString() })
  }
}
