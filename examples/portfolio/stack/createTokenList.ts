import { type EvmWorld, evmContract } from '@chain-data/devnet'
import { drawPicture } from './drawPicture.ts'

/** Honest tokens, with a colour for each. */
const hues = { gold: 45, dollar: 150, silver: 210 }

/** A token list with logos for the honest tokens of the devnet. @see https://uniswap.org/tokenlist.schema.json */
export function createTokenList(world: EvmWorld): object {
  return {
    name: 'Devnet tokens',
    timestamp: '2026-01-01T00:00:00.000Z',
    version: { major: 1, minor: 0, patch: 0 },
    tokens: Object.entries(hues).map(([label, hue]) => {
      const { address, name, symbol, decimals } = evmContract(world, label)
      const logo = Buffer.from(drawPicture(hue, 72)).toString('base64')
      return {
        chainId: world.chainId,
        address,
        name,
        symbol,
        decimals,
        logoURI: `data:image/png;base64,${logo}`
      }
    })
  }
}
