import { PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MetadataServer, startMetadataServer } from '../src/metadata/startMetadataServer.ts'
import type { SolanaDriver } from '../src/solana/createSolanaDriver.ts'
import { editionAddress, metadataAddress, metadataProgram } from '../src/solana/metaplexAccounts.ts'
import { seedSolanaWorld } from '../src/solana/seedSolanaWorld.ts'
import { solanaHistoryOf, solanaHoldingsOf, solanaMint } from '../src/solana/solanaTruth.ts'
import { tokenPrograms } from '../src/solana/splInstructions.ts'
import { type SurfpoolNode, startSurfpool, surfpoolUnsupportedReason } from '../src/solana/startSurfpool.ts'
import { expectedSolanaHoldings } from '../src/wire/expectedSolanaHoldings.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

interface Parsed {
  pubkey: string
  account: {
    data: {
      parsed?: { info: { mint: string; state: string; tokenAmount: { amount: string; decimals: number } } }
    }
  }
}

interface TokenBalance {
  accountIndex: number
  owner: string
  uiTokenAmount: { amount: string }
}

interface NodeTransaction {
  meta: {
    err: unknown
    fee: number
    preBalances: number[]
    postBalances: number[]
    preTokenBalances: TokenBalance[]
    postTokenBalances: TokenBalance[]
    loadedAddresses: { writable: string[]; readonly: string[] }
  }
  transaction: { message: { accountKeys: string[] } }
  version: 'legacy' | 0
}

describe.skipIf(unsupported !== undefined)('the seeded Solana world', () => {
  let node: SurfpoolNode
  let metadata: MetadataServer
  let driver: SolanaDriver

  beforeAll(async () => {
    ;[node, metadata] = await Promise.all([startSurfpool(), startMetadataServer()])
    driver = await seedSolanaWorld(node, { seed: 3, metadata })
  })

  afterAll(async () => {
    await Promise.all([node?.stop(), metadata?.stop()])
  })

  /** Raw bytes of an account, read without any decoder of ours. */
  async function bytesOf(address: string) {
    const answer = (await driver.rpc('getAccountInfo', address, { encoding: 'base64' })) as {
      value: { data: [string]; owner: string } | null
    }
    if (answer.value === null) throw new Error(`${address} does not exist`)
    return { data: Buffer.from(answer.value.data[0], 'base64'), owner: answer.value.owner }
  }

  test('every mint has the program, supply and decimals of the world', async () => {
    for (const mint of Object.values(driver.world.mints)) {
      if (mint.damage === 'mint') continue
      const { data, owner } = await bytesOf(mint.address)
      expect(owner).toBe(tokenPrograms[mint.program].toBase58())
      expect(data.readBigUInt64LE(36), mint.label).toBe(mint.supply)
      expect(data.readUInt8(44), mint.label).toBe(mint.decimals)
    }
  })

  test('every owner has exactly the token accounts of the world, with their amounts and states', async () => {
    for (const { name, address } of Object.values(driver.world.owners)) {
      const found: unknown[] = []
      const unparsed: string[] = []
      for (const programId of Object.values(tokenPrograms)) {
        const answer = (await driver.rpc(
          'getTokenAccountsByOwner',
          address,
          { programId: programId.toBase58() },
          { encoding: 'jsonParsed' }
        )) as { value: Parsed[] }
        for (const { pubkey, account } of answer.value) {
          // Without a sound mint the node leaves the bytes as they are.
          const { parsed } = account.data
          if (parsed === undefined) {
            unparsed.push(pubkey)
            continue
          }
          const { mint, state, tokenAmount } = parsed.info
          found.push({ pubkey, mint, state, amount: tokenAmount.amount, decimals: tokenAmount.decimals })
        }
      }
      const intended = driver.world.tokenAccounts
        .filter(({ owner, address, isClosed }) => owner === name && !isClosed && !unparsed.includes(address))
        .map(account => {
          const { address: mint, decimals } = solanaMint(driver.world, account.mint)
          return {
            pubkey: account.address,
            mint,
            state: account.state,
            amount: `${account.amount}`,
            decimals
          }
        })
      expect(found.length).toBe(intended.length)
      expect(found).toEqual(expect.arrayContaining(intended))
      const damaged = driver.world.tokenAccounts.filter(
        account => account.isDamaged === true || solanaMint(driver.world, account.mint).damage !== undefined
      )
      for (const address of unparsed) expect(damaged.map(account => account.address)).toContain(address)
    }
  })

  test('every transaction did what the world says: outcome, fee, and each balance before and after', async () => {
    const { owners, transactions } = driver.world
    for (const { signature, label = signature, ...intended } of transactions) {
      const config = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' }
      const { meta, transaction, version } = (await driver.rpc(
        'getTransaction',
        signature,
        config
      )) as NodeTransaction
      const loaded = [...meta.loadedAddresses.writable, ...meta.loadedAddresses.readonly]
      const keys = [...transaction.message.accountKeys, ...loaded]
      // This node also lists accounts that the transaction closed, with the amount before it; no lamports means closed.
      const amountsOf = (balances: TokenBalance[], lamports: number[]) =>
        Object.fromEntries(
          balances
            .filter(({ accountIndex }) => lamports[accountIndex] !== 0)
            .map(at => [keys[at.accountIndex], `${at.owner} ${at.uiTokenAmount.amount}`])
        )
      expect(
        { keys, loaded, version, failed: meta.err !== null, fee: meta.fee, feePayer: keys[0] },
        label
      ).toEqual({
        ...{ keys: intended.addresses, loaded: intended.loaded, version: intended.version },
        ...{ failed: intended.status === 'failed', fee: Number(intended.fee), feePayer: intended.feePayer }
      })
      for (const [name, { pre, post }] of Object.entries(intended.lamports)) {
        // An account beyond what a double can hold is read elsewhere.
        if (name === 'dora') continue
        const at = keys.indexOf(owners[name]!.address)
        expect([meta.preBalances[at], meta.postBalances[at]], `${label}, ${name}`).toEqual([
          Number(pre),
          Number(post)
        ])
      }
      const side = (owner: 'preOwner' | 'postOwner', amount: 'pre' | 'post') =>
        Object.fromEntries(
          intended.tokens.flatMap(({ account, ...change }) => {
            const name = change[owner]
            return name === undefined ? [] : [[account, `${owners[name]!.address} ${change[amount]}`]]
          })
        )
      expect(amountsOf(meta.preTokenBalances, meta.preBalances), label).toEqual(side('preOwner', 'pre'))
      expect(amountsOf(meta.postTokenBalances, meta.postBalances), label).toEqual(side('postOwner', 'post'))
    }
  })

  test('the history of heidi has every kind of transaction, newest first', () => {
    const history = solanaHistoryOf(driver.world, 'heidi')
    const labels = history.map(({ label }) => label)
    expect(labels[0]).toBe('heidi takes her leave')
    expect(labels.at(-1)).toBe('heidi is funded')
    expect(new Set(history.map(({ status, version }) => `${status} ${version}`))).toEqual(
      new Set(['success legacy', 'success 0', 'failed legacy'])
    )
    // Those that name a token account of hers only.
    const unnamed = history.filter(({ lamports, label }) => !('heidi' in lamports) && label !== undefined)
    expect(unnamed.map(({ label }) => label)).toEqual([
      'ivan fills what was his',
      'ivan gives an account to heidi',
      'ivan sends 700000 with a toll',
      'ivan sends 10001 with a toll',
      'judy spends for heidi',
      'ivan fills her purse',
      'ivan fails to send coins',
      'ivan sends coins',
      'ivan sends more than a double can hold'
    ])
    expect(solanaHistoryOf(driver.world, 'judy').map(({ label }) => label)[0]).toBe(
      'ivan pays judy by a lookup table'
    )
    expect(solanaHistoryOf(driver.world, 'nobody')).toEqual([])
  })

  test('lamports are exact, also beyond what a double can hold', async () => {
    for (const { name, address, lamports } of Object.values(driver.world.owners)) {
      const response = await fetch(node.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBalance', params: [address] })
      })
      expect(await response.text(), name).toContain(`"value":${lamports}}`)
    }
    expect(driver.world.owners.dora!.lamports).toBeGreaterThan(2n ** 63n)
  })

  test('metadata accounts stand at their derived address and hold every field where the program puts it', async () => {
    const described = Object.values(driver.world.mints).filter(mint => mint.metaplex !== undefined)
    expect(new Set(described.map(mint => mint.metaplexSize))).toEqual(new Set([324, 326, 607, 679]))
    for (const mint of described) {
      const truth = mint.metaplex!
      const { data, owner } = await bytesOf(metadataAddress(mint.address))
      expect(owner).toBe(metadataProgram.toBase58())
      expect(data.length).toBe(mint.metaplexSize)
      expect(data.readUInt8(0)).toBe(4)
      expect(new PublicKey(data.subarray(1, 33)).toBase58()).toBe(truth.updateAuthority)
      expect(new PublicKey(data.subarray(33, 65)).toBase58()).toBe(mint.address)
      const text = (at: number) => {
        const length = data.readUInt32LE(at)
        return data
          .subarray(at + 4, at + 4 + length)
          .toString('utf8')
          .replace(/\0+$/, '')
      }
      expect([data.readUInt32LE(65), data.readUInt32LE(101)]).toEqual([32, 10])
      expect([text(65), text(101), text(115)]).toEqual([truth.name, truth.symbol, truth.uri])
      expect(data.readUInt16LE(119 + data.readUInt32LE(115))).toBe(truth.sellerFeeBasisPoints)
    }
  })

  test('optional fields of a metadata account follow each other as the layout says', async () => {
    const mint = solanaMint(driver.world, 'new nft')
    const { data } = await bytesOf(metadataAddress(mint.address))
    const truth = mint.metaplex!
    let at = 321
    expect([data[at], data.readUInt32LE(at + 1)]).toEqual([1, 1])
    expect(new PublicKey(data.subarray(at + 5, at + 37)).toBase58()).toBe(truth.creators![0]!.address)
    expect([data[at + 37], data[at + 38]]).toEqual([1, 100])
    at += 39
    expect([...data.subarray(at, at + 2)]).toEqual([0, 0])
    expect([...data.subarray(at + 2, at + 6)]).toEqual([1, 253, 1, 0])
    expect([...data.subarray(at + 6, at + 8)]).toEqual([1, 1])
    expect(new PublicKey(data.subarray(at + 8, at + 40)).toBase58()).toBe(truth.collection!.key)
    expect([...data.subarray(at + 40, at + 42)]).toEqual([1, 1])
    expect(data.readBigUInt64LE(at + 42)).toBe(truth.uses!.remaining)
    expect(data.readBigUInt64LE(at + 50)).toBe(truth.uses!.total)
    expect([...data.subarray(at + 58, at + 60)]).toEqual([0, 0])
  })

  test('the Token-2022 metadata extension decodes to what was meant', async () => {
    for (const mint of Object.values(driver.world.mints)) {
      if (mint.extension === undefined || mint.extensionAt !== undefined) continue
      const answer = (await driver.rpc('getAccountInfo', mint.address, { encoding: 'jsonParsed' })) as {
        value: { data: { parsed: { info: { extensions: { extension: string; state: unknown }[] } } } }
      }
      const { extensions } = answer.value.data.parsed.info
      expect(extensions.find(({ extension }) => extension === 'tokenMetadata')?.state).toEqual({
        ...mint.extension,
        updateAuthority: mint.extension.updateAuthority ?? null,
        mint: mint.address
      })
    }
  })

  test('edition accounts are where readers look, and took the authorities over', async () => {
    for (const [label, key] of [
      ['old nft', 6],
      ['programmable nft', 6],
      ['print', 1]
    ] as const) {
      const { address } = solanaMint(driver.world, label)
      const edition = editionAddress(address)
      expect((await bytesOf(edition)).data.readUInt8(0)).toBe(key)
      expect(new PublicKey((await bytesOf(address)).data.subarray(4, 36)).toBase58()).toBe(edition)
    }
  })

  test('the truth leaves empty accounts out and tells tokens, NFTs and semi-fungible ones apart', () => {
    const of = (name: string) => {
      const { tokens, nfts } = solanaHoldingsOf(driver.world, name)
      const labels = (list: typeof nfts) => list.map(({ mint }) => mint.label).sort()
      return {
        tokens: labels(tokens),
        nfts: labels(nfts.filter(({ mint }) => mint.kind === 'nft')),
        several: labels(nfts.filter(({ mint }) => mint.kind === 'semiFungible'))
      }
    }
    expect(of('alice')).toEqual({
      tokens: ['coin', 'coin', 'maximum', 'named coin', 'new coin', 'self-describing coin'],
      nfts: ['old nft', 'own words', 'programmable nft', 'strange standard'],
      several: ['fungible asset']
    })
    expect(of('bob')).toEqual({
      tokens: ['coin', 'frozen coin', 'lonely', 'new coin', 'odd'],
      nfts: ['new nft', 'print'],
      several: ['old semi-fungible']
    })
    expect(of('carol')).toEqual({ tokens: [], nfts: ['collection'], several: [] })
    expect(of('nobody')).toEqual({ tokens: [], nfts: [], several: [] })
  })

  test('the answer expected of a service has metadata documents only when they were asked for', () => {
    const ask = (parseMetadataUri: boolean) =>
      expectedSolanaHoldings(driver.world, 'bob', { parseMetadataUri, origin: metadata.url }).nfts.find(
        nft => nft.mint === solanaMint(driver.world, 'new nft').address
      )!
    const plain = ask(false)
    expect(plain.image).toBe('')
    expect(plain.metadata).toMatchObject({ key: 4, editionNonce: 253, primarySaleHappened: false })
    expect(plain.metadata.data).toMatchObject({ name: 'Neue NFT „ü“', sellerFeeBasisPoints: 10_000 })
    expect(plain.metadata.data).not.toHaveProperty('uriData')
    const parsed = ask(true)
    expect(parsed.image).toBe(`${metadata.url}/solana/1.svg`)
    expect(parsed.metadata.data.uriData).toMatchObject({ name: 'New', empty: null })
  })

  test('every metadata document is served as the world says, and one leads nowhere', async () => {
    for (const [uri, { json }] of driver.world.documents) {
      const text = await (await fetch(uri)).text()
      if (json === undefined) expect(() => JSON.parse(text)).toThrow()
      else expect(JSON.parse(text)).toEqual(json)
    }
    const uri = solanaMint(driver.world, 'programmable nft').metaplex!.uri
    expect(driver.world.documents.has(uri)).toBe(false)
    expect((await fetch(uri)).status).toBe(404)
  })

  test('more transfers keep the world true', async () => {
    const [from, to] = ['alice', 'bob'].map(
      owner => driver.world.tokenAccounts.find(account => account.mint === 'coin' && account.owner === owner)!
    )
    const before = to!.amount
    await driver.transfer(from!, to!, 3n)
    expect(to!.amount).toBe(before + 3n)
    expect((await bytesOf(to!.address)).data.readBigUInt64LE(64)).toBe(to!.amount)
  })

  test('a transaction the program refuses is an error and changes nothing in the world', async () => {
    const frozen = driver.world.tokenAccounts.find(account => account.mint === 'frozen coin')!
    const other = await driver.createTokenAccount('frozen coin', 'carol')
    await expect(driver.transfer(frozen, other, 1n)).rejects.toMatchObject({ reason: 'NODE_REFUSED' })
    expect([frozen.amount, other.amount]).toEqual([4_200n, 0n])
  })

  test('a stopped node is gone with its process', async () => {
    const other = await startSurfpool()
    await other.stop()
    await other.stop()
    expect(() => process.kill(other.pid, 0)).toThrow()
  })
})
