import type {
  Finding,
  HistoryCertificate,
  NativeCheck,
  NftCheck,
  SentCheck,
  TokenCheck
} from '@chain-data/protocol'
import type { IndexedAccount } from '../../audit/Audit.ts'
import type { TokenResult } from '../../audit/checkTokens.ts'
import type { CertificateFinding } from '../../audit/Findings.ts'
import type { Certificate } from '../../audit/issueCertificate.ts'
import type { BlockAt } from '../../evm/state/pinBlock.ts'
import type { FormatAddress } from './addressFormat.ts'
import { knownFrom } from './requireCurrent.ts'

/** Shapes a certificate as the wire has it. */
export function shapeCertificate(
  { verdict, index, sent, native, tokens, findings }: Certificate,
  { account, from, to, coverage }: IndexedAccount,
  at: BlockAt,
  formatAddress: FormatAddress
): HistoryCertificate {
  return {
    address: formatAddress(account),
    asOf: { blockNumber: at.number, blockHash: at.hash, timestamp: at.timestampSeconds },
    verdict,
    covers: { from, to, ...knownFrom(coverage) },
    index,
    sent: shapeSent(sent),
    native: shapeNative(native),
    tokens: tokens.flatMap(token => shapeToken(token, formatAddress)),
    nfts: tokens.flatMap(token => shapeNft(token, formatAddress)),
    findings: findings.map(finding => shapeFinding(finding, formatAddress))
  }
}

function shapeSent({
  verdict,
  opening,
  transactions,
  authorizations,
  creations,
  count
}: Certificate['sent']): SentCheck {
  return {
    verdict,
    ...(opening !== undefined && { opening: opening.toString() }),
    ...{ transactions, authorizations, creations: Number(creations) },
    count: count.toString()
  }
}

function shapeNative({ verdict, opening, parts, computed, balance }: Certificate['native']): NativeCheck {
  return {
    verdict,
    parts: {
      ...(opening !== undefined && { opening: opening.toString() }),
      received: parts.received.toString(),
      sent: parts.sent.toString(),
      fees: parts.fees.toString(),
      internalReceived: parts.internalReceived.toString(),
      internalSent: parts.internalSent.toString(),
      withdrawals: parts.withdrawals.toString(),
      rewards: parts.rewards.toString(),
      tips: parts.tips.toString(),
      minted: parts.minted.toString(),
      burned: parts.burned.toString()
    },
    ...(computed !== undefined && {
      computed: computed.toString(),
      difference: (balance - computed).toString()
    }),
    balance: balance.toString()
  }
}

/** Shapes the members that ERC-20 and NFT checks have in common. */
function shapeSums({ verdict, opening, received, sent, balance, explanation }: TokenResult) {
  return {
    verdict,
    ...(opening !== undefined && { opening: opening.toString() }),
    received: received.toString(),
    sent: sent.toString(),
    ...(balance !== undefined && { balance: balance.toString() }),
    ...(balance !== undefined &&
      opening !== undefined && { difference: (balance - opening - received + sent).toString() }),
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
