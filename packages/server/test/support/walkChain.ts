import { AbiCoder, getAddress, id, toBeHex, verifyAuthorization } from 'ethers'

/** What the oracle knows of one confirmed transaction, in the terms of the index. */
export interface WalkedTransaction {
  readonly record: Record<string, unknown>
  readonly parties: ReadonlySet<string>
  /** Who has received what token: owner, contract, standard and, for all but ERC-20, token id, with spaces between. */
  readonly holdings: readonly string[]
  /** What it paid above the base fee, in wei. */
  readonly tip: bigint
}

/** What one block does to one account besides its transactions, in the terms of the index. */
interface WalkedEvents {
  readonly blockNumber: number
  readonly events: readonly { readonly kind: 'tip' | 'withdrawal'; readonly amount: bigint }[]
}

export interface WalkedChain {
  readonly head: { readonly number: number; readonly hash: string }
  readonly lowest: number
  /** Hashes of the walked blocks, from `lowest` to the head. */
  readonly path: readonly string[]
  /** In chain order. */
  readonly transactions: readonly WalkedTransaction[]
  /** By account, lower case, then by block. The nonces of authorities are not in it. */
  readonly events: ReadonlyMap<string, readonly WalkedEvents[]>
  /** Every address that is a party anywhere, lower case. */
  readonly addresses: ReadonlySet<string>
}

/** Blocks that were walked before, by hash. Only for nodes whose block hashes are never used twice. */
export type WalkedBlocks = Map<string, readonly WalkedTransaction[]>

type Log = { address: string; topics: string[]; data: string }
type Withdrawal = { address: string; amount: string }
type Raw = Record<string, string> & { logs: Log[]; transactions: string[]; withdrawals?: Withdrawal[] }
type Authorization = Record<'chainId' | 'address' | 'nonce' | 'r' | 's' | 'yParity', string>
type Call = (method: string, ...params: unknown[]) => Promise<unknown>

/** Calls under way at the same time: a node answers them faster, and its queue stays short. */
const callsAtOnce = 16

/**
 * An oracle independent of the index: walks the node from its head down by parent hash, asks for each transaction and
 * each receipt alone, and decodes with ethers. Knows standard blocks only, which is all that a test node makes.
 *
 * @param known - blocks in it are not asked for again; those walked now are added.
 * @param traces - with `on`, whoever pays or is paid inside a transaction is a party, as the node's own tracer tells.
 * @throws {Error} when the chain changes under its feet: a transaction or receipt of another block.
 */
export async function walkChain(
  call: Call,
  lowest = 0,
  known: WalkedBlocks = new Map(),
  traces: 'on' | 'off' = 'off'
): Promise<WalkedChain> {
  const path: Raw[] = []
  let block = (await call('eth_getBlockByNumber', 'latest', false)) as Raw
  const head = { number: Number(block.number), hash: block.hash! }
  for (;;) {
    path.push(block)
    if (Number(block.number) <= lowest) break
    block = (await call('eth_getBlockByHash', block.parentHash, false)) as Raw
  }
  path.reverse()
  const wanted = path
    .filter(({ hash }) => !known.has(hash!))
    .flatMap(parent => parent.transactions.map(hash => ({ hash, parent })))
  const walked = await eachOf(wanted, async ({ hash, parent }) => {
    const transaction = await walkTransaction(call, hash, parent)
    if (traces === 'off') return transaction
    const inside = await internalParties(call, hash)
    return { ...transaction, parties: new Set([...transaction.parties, ...inside]) }
  })
  for (const { hash, transactions } of path) {
    if (!known.has(hash!)) known.set(hash!, walked.splice(0, transactions.length))
  }
  const transactions = path.flatMap(({ hash }) => known.get(hash!) ?? [])
  return {
    head,
    lowest,
    path: path.map(({ hash }) => hash!),
    transactions,
    events: eventsOf(path, known),
    addresses: new Set(transactions.flatMap(({ parties }) => [...parties]))
  }
}

function eventsOf(path: readonly Raw[], known: WalkedBlocks): WalkedChain['events'] {
  const found = new Map<string, { blockNumber: number; events: WalkedEvents['events'][number][] }[]>()
  for (const { hash, number, miner, withdrawals = [] } of path) {
    const blockNumber = Number(number)
    const add = (to: string, kind: 'tip' | 'withdrawal', amount: bigint) => {
      if (amount === 0n) return
      const account = to.toLowerCase()
      const blocks = found.get(account) ?? []
      found.set(account, blocks)
      if (blocks.at(-1)?.blockNumber !== blockNumber) blocks.push({ blockNumber, events: [] })
      blocks.at(-1)?.events.push({ kind, amount })
    }
    const tips = (known.get(hash!) ?? []).map(({ tip }) => tip)
    const sum = tips.reduce((all, tip) => all + tip, 0n)
    add(miner!, 'tip', sum)
    for (const { address, amount } of withdrawals) add(address, 'withdrawal', BigInt(amount) * 10n ** 9n)
  }
  return found
}

async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let place = next++; place < items.length; place = next++) results[place] = await work(items[place]!)
  }
  await Promise.all(Array.from({ length: callsAtOnce }, worker))
  return results
}

type Traced = {
  type: string
  from: string
  to?: string
  value?: string
  error?: string
  calls?: Traced[]
}

async function internalParties(call: Call, hash: string): Promise<string[]> {
  const root = (await call('debug_traceTransaction', hash, { tracer: 'callTracer' })) as Traced
  const within = ({ error, calls = [] }: Traced): string[] =>
    error === undefined ? calls.flatMap(inner => [...partiesIn(inner), ...within(inner)]) : []
  const partiesIn = ({ type, from, to, value, error }: Traced) => {
    const moves = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'].includes(type) && error === undefined
    return moves && to !== undefined && BigInt(value ?? 0) > 0n ? [from, to] : []
  }
  return within(root).map(address => address.toLowerCase())
}

async function walkTransaction(call: Call, hash: string, block: Raw): Promise<WalkedTransaction> {
  const [raw, receipt] = (await Promise.all([
    call('eth_getTransactionByHash', hash),
    call('eth_getTransactionReceipt', hash)
  ])) as [
    Raw & {
      accessList?: { address: string; storageKeys: string[] }[]
      blobVersionedHashes?: string[]
      authorizationList?: Authorization[]
    },
    Raw
  ]
  for (const part of [raw, receipt]) {
    if (part?.blockHash !== block.hash) {
      throw new Error(`${hash} was walked in block ${block.hash}, the node has it in ${part?.blockHash}`)
    }
  }
  const type = Number(raw.type)
  const gasSpent = BigInt(receipt.gasUsed!)
  const gasPrice = BigInt(receipt.effectiveGasPrice!)
  const baseFee = BigInt(block.baseFeePerGas ?? 0)
  const blobFee = BigInt(receipt.blobGasUsed ?? 0) * BigInt(receipt.blobGasPrice ?? 0)
  const succeeded = receipt.status === '0x1'
  const created = raw.to === null && succeeded ? receipt.contractAddress : undefined
  const parties = new Set<string>([raw.from!, ...(raw.to ? [raw.to] : []), ...(created ? [created] : [])])
  if (succeeded) for (const log of receipt.logs) for (const party of partiesOf(log)) parties.add(party)
  for (const authority of authoritiesOf(raw)) parties.add(authority)
  return {
    tip: gasPrice > baseFee ? gasSpent * (gasPrice - baseFee) : 0n,
    holdings: succeeded ? receipt.logs.flatMap(holdingsOf).map(text => text.toLowerCase()) : [],
    parties: new Set([...parties].map(party => party.toLowerCase())),
    record: {
      hash,
      from: raw.from,
      ...(raw.to ? { to: raw.to } : {}),
      value: BigInt(raw.value!),
      data: raw.input,
      gasLimit: BigInt(raw.gas!),
      nonce: BigInt(raw.nonce!),
      type,
      ...(type >= 1 ? { accessList: raw.accessList } : {}),
      ...(type >= 2
        ? {
            maxFeePerGas: BigInt(raw.maxFeePerGas!),
            maxPriorityFeePerGas: BigInt(raw.maxPriorityFeePerGas!)
          }
        : {}),
      ...(type === 3
        ? {
            maxFeePerBlobGas: BigInt(raw.maxFeePerBlobGas!),
            blobVersionedHashes: raw.blobVersionedHashes
          }
        : {}),
      blockNumber: Number(block.number),
      index: Number(raw.transactionIndex),
      timestampSeconds: Number(block.timestamp),
      status: succeeded ? 3 : 4,
      gasPrice,
      gasSpent,
      feeWei: gasSpent * gasPrice + blobFee,
      ...(created ? { contractAddress: created } : {})
    }
  }
}

/** Who let code act for its account (EIP-7702). The traffic of these suites has no authorization that is not valid. */
function authoritiesOf({ authorizationList = [] }: { authorizationList?: Authorization[] }): string[] {
  return authorizationList.map(({ r, s, yParity, ...signed }) => {
    const word = (hex: string) => toBeHex(BigInt(hex), 32)
    const signature = { r: word(r), s: word(s), yParity: Number(yParity) as 0 | 1 }
    return verifyAuthorization(
      { ...signed, nonce: BigInt(signed.nonce), chainId: BigInt(signed.chainId) },
      signature
    )
  })
}

const transfer = id('Transfer(address,address,uint256)')
const single = id('TransferSingle(address,address,address,uint256,uint256)')
const batch = id('TransferBatch(address,address,address,uint256[],uint256[])')

function partiesOf({ topics, data }: Log): string[] {
  if (topics[0] === transfer && topics.length >= 3) return [inTopic(topics[1]), inTopic(topics[2])]
  if (topics[0] === transfer && data.length === 194) {
    return AbiCoder.defaultAbiCoder().decode(['address', 'address', 'uint256'], data).slice(0, 2) as string[]
  }
  if (topics[0] === single || topics[0] === batch) return [inTopic(topics[2]), inTopic(topics[3])]
  return []
}

function holdingsOf({ address, topics, data }: Log): string[] {
  const coder = AbiCoder.defaultAbiCoder()
  if (topics[0] === transfer && topics.length === 3) return [`${inTopic(topics[2])} ${address} erc20`]
  if (topics[0] === transfer && topics.length === 4) {
    return [`${inTopic(topics[2])} ${address} erc721 ${BigInt(topics[3]!)}`]
  }
  if (topics[0] === single) {
    return [`${inTopic(topics[3])} ${address} erc1155 ${coder.decode(['uint256', 'uint256'], data)[0]}`]
  }
  if (topics[0] === batch) {
    const ids = coder.decode(['uint256[]', 'uint256[]'], data)[0] as bigint[]
    return [...ids].map(tokenId => `${inTopic(topics[3])} ${address} erc1155 ${tokenId}`)
  }
  return []
}

function inTopic(topic: string | undefined): string {
  return getAddress(`0x${topic?.slice(26)}`)
}
