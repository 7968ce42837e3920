import { describe, expect, test } from 'vitest'
import { createSpamJudge, type SpamJudge, type SpamJudgeOptions } from './createSpamJudge.ts'

const address = `0x${'ab'.repeat(20)}`
const listed: ReturnType<SpamJudgeOptions['listed']> = [
  { address: `0x${'01'.repeat(20)}`, name: 'Tether USD', symbol: 'USDT' },
  { address: `0x${'02'.repeat(20)}`, name: 'USD Coin', symbol: 'USDC' },
  { address: `0x${'03'.repeat(20)}`, name: 'yearn.finance', symbol: 'YFI' },
  { address: `0x${'04'.repeat(20)}`, name: 'USD₮0', symbol: 'USD₮0' },
  { address: `0x${'05'.repeat(20)}`, name: 'Pepe', symbol: 'PEPE' },
  { address: `0x${'06'.repeat(20)}`, name: 'ChainLink Token', symbol: 'LINK' },
  { address: `0x${'07'.repeat(20)}`, name: 'Рубль', symbol: 'РУБ' },
  { address: `0x${'08'.repeat(20)}`, name: 'ＪＰＹ Ｃｏｉｎ', symbol: 'ＪＰＹＣ' }
]
const judgeWith = (options: Partial<SpamJudgeOptions> = {}) =>
  createSpamJudge({ chainId: 1, listed: () => listed, allow: new Set(), deny: new Set(), ...options })
const judge = (asset: Partial<Parameters<SpamJudge>[0]>) =>
  judgeWith()({ address, name: '', symbol: '', ...asset })

/** Names and symbols of tokens that millions of people hold, as their contracts give them. */
const honestTokens = [
  ['1INCH Token', '1INCH'], ['yearn.finance', 'YFI'], ['USD Coin (PoS)', 'USDC'], ['USD Coin', 'USDC.e'],
  ['Tether USD', 'USD₮'], ['TetherToken', 'USDT'], ['Wrapped Ether', 'WETH'], ['Wrapped BTC', 'WBTC'],
  ['Dai Stablecoin', 'DAI'], ['Uniswap', 'UNI'], ['Aave Token', 'AAVE'], ['Aave Interest bearing USDC', 'aUSDC'],
  ['Curve DAO Token', 'CRV'], ['Curve.fi Factory USD Metapool: LUSD', 'LUSD3CRV-f'], ['Curve.fi DAI/USDC/USDT', '3Crv'],
  ['ether.fi governance token', 'ETHFI'], ['Lido DAO Token', 'LDO'], ['Liquid staked Ether 2.0', 'stETH'],
  ['Rocket Pool ETH', 'rETH'], ['Maker', 'MKR'], ['SHIBA INU', 'SHIB'], ['Pepe', 'PEPE2'], ['Floki', 'FLOKI'],
  ['ApeCoin', 'APE'], ['Ethereum Name Service', 'ENS'], ['Claimable', 'CLM'], ['Reward Token', 'RWD'],
  ['friend.tech', 'POINTS'], ['Pump.fun', 'PUMP'], ['Crypto.com Coin', 'CRO'], ['cream.finance', 'CREAM'],
  ['Mask Network', 'MASK'], ['Render Token', 'RNDR'], ['Fetch.ai', 'FET'], ['iExec RLC Token', 'RLC'],
  ['Staked Aave', 'stkAAVE'], ['Wrapped liquid staked Ether 2.0', 'wstETH'], ['Convex Token', 'CVX'],
  ['Frax Share', 'FXS'], ['Synthetic USD', 'sUSD'], ['Balancer 80 BAL 20 WETH', 'B-80BAL-20WETH'],
  ['Pendle USDe 25JUL2024', 'PT-USDe'], ['Ethena', 'ENA'], ['First Digital USD', 'FDUSD'], ['Gemini dollar', 'GUSD'],
  ['Bitcoin BEP2', 'BTCB'], ['Polygon Ecosystem Token', 'POL'], ['ZRX', 'ZRX'], ['$MONEY', '$MONEY'],
  ['Ð Doge', 'Ð'], ['Ξ', 'ΞETH'], ['🦍🦍🦍', '🍌'], ['人民币', 'CNH'], ['ビットコイン', 'BIT'], ['Мир', 'МИР'],
  ['D.AI Token', 'D.AI'], ['Season 2.live', 'S2'], ['Mr.Me', 'No.1']
] as const // biome-ignore format: a table

/** Names of collections, and of single NFTs in them. */
const honestNfts = [
  ['BoredApeYachtClub', 'BAYC', ''], ['CryptoPunks', 'Ͼ', 'CryptoPunk #7804'], ['Azuki', 'AZUKI', 'Azuki #1'],
  ['Ethereum Name Service', 'ENS', 'vitalik.eth'], ['NameWrapper', '', 'nick.example.eth'],
  ['DNS names', 'DNS', 'example.xyz'], ['Art Blocks', 'BLOCKS', 'Fidenza #313'], ['POAP', 'The Proof of Attendance Protocol', 'ETHGlobal'],
  ['Uniswap V3 Positions NFT-V1', 'UNI-V3-POS', 'Uniswap - 0.3% - USDC/WETH - 1500.1<>2000.3'],
  ['Optimism Airdrop', 'OPA', 'Airdrop #1'], ['Adidas Virtual Gear', 'AVG', 'Voucher'], ['Loot', 'LOOT', 'Bag #1'],
  ['Family', 'FAM', '👨‍👩‍👧‍👦 #4'], ['Flags', 'FLAG', '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'],
  ['می‌خواهم', 'FA', 'خانه‌ها'], ['mirror.xyz Genesis', 'MIR', 'Entry 3'], ['Visitors of Imma Degen', 'VOID', '#12']
] as const // biome-ignore format: a table

describe('honest names are never called spam', () => {
  test('the tables hold at least sixty of them', () => {
    expect(honestTokens.length + honestNfts.length).toBeGreaterThanOrEqual(60)
  })

  test.each(honestTokens)('%s (%s)', (name, symbol) => {
    expect(judge({ name, symbol })?.verdict).not.toBe('spam')
  })

  test.each(honestNfts)('%s (%s): %s', (name, symbol, title) => {
    expect(judge({ name, symbol, title })?.verdict).not.toBe('spam')
  })

  test('and most of them raise no doubt at all', () => {
    const doubted = [
      ...honestTokens.filter(([name, symbol]) => judge({ name, symbol }) !== undefined),
      ...honestNfts.filter(([name, symbol, title]) => judge({ name, symbol, title }) !== undefined)
    ].map(([name]) => name)
    // All but two hold a host name, by which nobody can tell a maker from an imitator.
    expect(doubted).toEqual([
      'yearn.finance', 'Curve.fi Factory USD Metapool: LUSD', 'Curve.fi DAI/USDC/USDT', 'ether.fi governance token',
      'friend.tech', 'Pump.fun', 'Crypto.com Coin', 'cream.finance', 'Fetch.ai', 'DNS names', 'Optimism Airdrop',
      'Adidas Virtual Gear', 'mirror.xyz Genesis'
    ]) // biome-ignore format: a table
  })
})

describe('spam is called spam:', () => {
  test.each([
    ['Visit usd-bonus.com to claim rewards', 'BONUS', ['NAME_HAS_URL', 'CLAIM_WORDS']],
    ['$1000 airdrop at https://x.y/z', 'AIR', ['NAME_HAS_URL', 'CLAIM_WORDS']],
    ['Claim on usdc [.] gift', 'USDC GIFT', ['NAME_HAS_URL', 'CLAIM_WORDS']],
    ['Сlаim 5,000$ оn сlaimеd․net', 'x', ['NAME_HAS_URL', 'CLAIM_WORDS']],
    ['ｃｌａｉｍ ａｔ ｕｓｄｔ．ｃｏｍ', 'x', ['NAME_HAS_URL', 'CLAIM_WORDS']],
    ['Voucher', 't.me/usdvoucher', ['NAME_HAS_URL', 'CLAIM_WORDS']],
    ['USD Coin', 'USDС', ['NAME_CONFUSABLE', 'NAME_OF_LISTED']],
    ['Тether USD', 'USDT-', ['NAME_CONFUSABLE']],
    ['Something', 'РЕРЕ', ['NAME_CONFUSABLE']],
    ['ＵＳＤＣ', 'x', ['NAME_CONFUSABLE']],
    ['ᴜꜱᴅᴄ', 'x', ['NAME_CONFUSABLE']],
    ['Εther', 'x', ['NAME_CONFUSABLE']],
    ['Rubel', 'PУБ', ['NAME_CONFUSABLE']]
  ])('%s (%s)', (name, symbol, reasons) => {
    expect(judge({ name, symbol })).toEqual({ verdict: 'spam', reasons })
  })

  test('a listed symbol with hidden characters in it', () => {
    // The name is display text already; that it hid something is all that is left of it.
    expect(judge({ name: 'Some Coin', symbol: 'USDC', hidesCharacters: true })).toEqual({
      verdict: 'spam',
      reasons: ['NAME_CONFUSABLE', 'NAME_HIDES_CHARACTERS']
    })
  })

  test('the metadata of an NFT that calls to a web address', () => {
    const nft = { name: 'Gift Box', symbol: 'GB', title: 'Cla\u200bim at bonus.\u200bxyz' }
    expect(judge(nft)).toEqual({
      verdict: 'spam',
      reasons: ['NAME_HAS_URL', 'CLAIM_WORDS', 'NAME_HIDES_CHARACTERS']
    })
  })
})

describe('one sign is suspicious:', () => {
  test.each([
    [{ name: 'ethg.io', symbol: 'ETHG' }, 'NAME_HAS_URL'],
    [{ name: 'x', symbol: 'www.x' }, 'NAME_HAS_URL'],
    [{ name: 'Airdrop', symbol: 'AIR' }, 'CLAIM_WORDS'],
    [{ name: 'USD Coin', symbol: 'USDC' }, 'NAME_OF_LISTED'],
    [{ name: 'usd coin', symbol: 'usdc' }, 'NAME_OF_LISTED'],
    [{ name: 'Ethereum', symbol: 'ETH' }, 'NAME_OF_LISTED'],
    [{ name: 'Plain', symbol: 'P', hidesCharacters: true }, 'NAME_HIDES_CHARACTERS'],
    [{ title: 'a\u202eb' }, 'NAME_HIDES_CHARACTERS']
  ])('%j', (asset, reason) => {
    expect(judge(asset)).toEqual({ verdict: 'suspicious', reasons: [reason] })
  })

  test('and a listed name that is a web address stays suspicious: bridges copy honest names', () => {
    expect(judge({ name: 'yearn.finance', symbol: 'YFI' })).toEqual({
      verdict: 'suspicious',
      reasons: ['NAME_OF_LISTED', 'NAME_HAS_URL']
    })
  })
})

describe('without a sign there is no verdict', () => {
  test.each([
    { name: '', symbol: '' },
    { name: 'Tether USD', symbol: 'OTHER' },
    { name: 'Some Coin', symbol: 'USDC' },
    { name: 'USD₮0', symbol: 'USD₮' },
    { name: 'U5DC', symbol: 'L1NK' },
    { name: 'Another JPY Coin', symbol: 'JPYC' },
    { name: 'Рубль', symbol: 'РУБЛ' }
  ])('%j', asset => {
    expect(judge(asset)).toBeUndefined()
  })
})

describe('lists come first:', () => {
  const spam = { address, name: 'Claim at bonus.com', symbol: 'USDС' }

  test('deny, allow, token list, names; in this order', () => {
    const list = new Set([address])
    expect(judgeWith({ allow: list })(spam)).toEqual({ verdict: 'ok', reasons: ['ALLOW_LISTED'] })
    expect(judgeWith({ deny: list, allow: list })(spam)).toEqual({
      verdict: 'spam',
      reasons: ['DENY_LISTED']
    })
    const inList = () => [...listed, { address, name: '', symbol: '' }]
    expect(judgeWith({ listed: inList })(spam)).toEqual({ verdict: 'ok', reasons: ['IN_TOKEN_LIST'] })
    expect(judgeWith({ listed: inList, deny: list })(spam)?.reasons).toEqual(['DENY_LISTED'])
    expect(judgeWith()(spam)?.verdict).toBe('spam')
  })

  test('a token list that changes is followed', () => {
    let current: ReturnType<SpamJudgeOptions['listed']> = []
    const judge = judgeWith({ listed: () => current })
    const asset = { address, name: 'USD Coin', symbol: 'USDC' }
    expect(judge(asset)).toBeUndefined()
    current = listed
    expect(judge(asset)?.reasons).toEqual(['NAME_OF_LISTED'])
    current = []
    expect(judge(asset)).toBeUndefined()
  })

  test('the native coin is known by its chain only', () => {
    const asset = { address, name: 'Ether', symbol: 'ETH' }
    expect(judgeWith({ chainId: 10, listed: () => [] })(asset)?.reasons).toEqual(['NAME_OF_LISTED'])
    expect(judgeWith({ chainId: 777, listed: () => [] })(asset)).toBeUndefined()
  })
})

test.each(['a'.repeat(2_000), 'a-'.repeat(1_000), 'a.'.repeat(1_000), '0-'.repeat(1_000), '\u0430'.repeat(2_000), 'ﷺ'.repeat(255)])(
  'a long name is judged like any other (%#)',
  title => {
    expect(judge({ title })).toBeUndefined()
  }
) // biome-ignore format: a table
