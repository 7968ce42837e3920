import {
  createContract,
  createEvmCalls,
  type EvmDriver,
  evmContract,
  type MetadataHost,
  putJson
} from '@chain-data/devnet'
import { checksummed } from '../src/search/parseAddress.ts'

/** Who holds what means harm; receives only. */
const collector = {
  name: 'collector',
  address: checksummed('0xc0ffee254729296a45a3885639ac7e10f9d54979'),
  initialBalanceWei: 0n
}

/** Names as tokens have them that are to deceive, or to break whoever shows them. */
export const hostileNames = {
  bidi: '\u202eCDSU\u202c \u2066USDC\u2069',
  markup: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  long: 'Very long name '.repeat(700),
  claim: 'Claim your reward at bonus.xyz'
} as const

/** A host that no picture may be asked of. */
const foreignHost = 'http://pictures.invalid'

/** Pictures as NFTs have them that are to do harm. */
export const hostileImages = {
  script: 'javascript:document.title=3',
  vector: `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=4"/>')}`,
  insecure: `${foreignHost}/pixel.png`,
  page: 'data:text/html,<script>document.title=5</script>'
} as const

/** Adds what the devnet's story leaves out, in blocks of their own: more for `alice`, and the `collector`. */
export async function addAccounts(driver: EvmDriver, metadata: MetadataHost): Promise<void> {
  await addToAlice(driver)
  await addCollector(driver, metadata)
}

async function addToAlice(driver: EvmDriver): Promise<void> {
  const calls = createEvmCalls(driver.world)
  const items = evmContract(driver.world, 'items')
  const silver = {
    label: 'silver',
    kind: 'erc20',
    name: 'Devnet Silver',
    symbol: 'SLV',
    decimals: 8
  } as const
  await driver.send({
    ...{ label: 'creation of silver', from: 'deployer' },
    ...createContract('DevToken', [silver.name, silver.symbol, silver.decimals], silver)
  })
  await driver.mine()
  const mints = {
    'dollars for alice': calls.erc20Mint(
      'deployer',
      evmContract(driver.world, 'dollar'),
      'alice',
      2_519_750_000n
    ),
    'silver for alice': calls.erc20Mint(
      'deployer',
      evmContract(driver.world, 'silver'),
      'alice',
      1_234_567_890n
    ),
    'shields for alice': calls.erc1155Mint('deployer', items, 'alice', 2n, 120n),
    'a potion for alice': calls.erc1155Mint('deployer', items, 'alice', 0xabcn, 1n)
  }
  for (const [label, mint] of Object.entries(mints)) await driver.send({ label, ...mint })
  await driver.mine()
}

/** An account that holds hostile tokens and NFTs. */
async function addCollector(driver: EvmDriver, metadata: MetadataHost): Promise<void> {
  const { world } = driver
  world.accounts.collector = collector
  const calls = createEvmCalls(world)
  for (const [label, name] of Object.entries(hostileNames)) {
    const symbol = name.slice(0, 60)
    await driver.send({
      ...{ label: `creation of ${label}`, from: 'deployer', gasLimit: 15_000_000n },
      ...createContract('DevToken', [name, symbol, 6], { label, kind: 'erc20', name, symbol, decimals: 6 })
    })
    await driver.mine()
    const amount = 1_000_000_001n
    const mint = calls.erc20Mint('deployer', evmContract(world, label), 'collector', amount)
    await driver.send({ label: `mint of ${label}`, ...mint })
  }
  const art = evmContract(world, 'art')
  for (const [at, [label, image]] of Object.entries(hostileImages).entries()) {
    const json = {
      name: at === 0 ? hostileNames.markup : `Picture by ${label}`,
      description: hostileNames.markup,
      image,
      external_url: 'javascript:document.title=6',
      attributes: [
        { trait_type: hostileNames.markup, value: hostileNames.bidi },
        null,
        { value: { deep: 1 } }
      ]
    }
    const uri = putJson(metadata, `/hostile/${label}.json`, json)
    world.documents.set(uri, { via: 'http', json })
    const mint = calls.erc721Mint('deployer', art, 'collector', BigInt(100 + at), uri)
    await driver.send({ label: `mint of ${label} picture`, ...mint })
  }
  await driver.mine()
}
