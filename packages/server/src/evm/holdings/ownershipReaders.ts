import type { TokenStandard } from '../../model/evm.ts'
import { erc20Ownership } from './erc20.ts'
import { erc721Ownership } from './erc721.ts'
import { erc1155Ownership } from './erc1155.ts'
import type { OwnershipReader } from './ownership.ts'

/** How each standard is asked who owns what. */
export const ownershipReaders: Readonly<Record<TokenStandard, OwnershipReader>> = {
  erc20: erc20Ownership,
  erc721: erc721Ownership,
  erc1155: erc1155Ownership
}
