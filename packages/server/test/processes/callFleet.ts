import { setTimeout as sleep } from 'node:timers/promises'
import { type EvmHoldings, isConfirmed, type TransactionRecord } from '@chain-data/protocol'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import type { ChaosChain } from '../chaos/createChaosChain.ts'
import type { Asked, ToldHistory, Truth } from './recordTruth.ts'
import { credentials, type Fleet, type Member } from './startFleet.ts'

/** Callers of all servers at once, who know what is true. */
export interface Load {
  /** Answers by kind, refusals by reason. */
  readonly counts: ReadonlyMap<string, number>
  /** What must not have been said. */
  readonly wrongs: readonly string[]
  answered(): number
  /** Ends the calls and judges what was not judged yet. */
  stop(): Promise<void>
}

/** Refusals that say: not now, ask again. */
const notNow = new Set(['NOT_SYNCED', 'UPSTREAM_UNAVAILABLE', 'OVERLOADED'])
const authorization = `Basic ${Buffer.from(`${credentials.projectId}:${credentials.serverKey}`).toString('base64')}`
/** Longer than a server holds a call back by itself. */
const patienceMs = 12_000

type Reply<T> = { readonly result: T } | { readonly refused: string } | { readonly failed: string }

/**
 * Asks random servers for whole histories, pages and holdings, each as soon as it has its answer. A history must be the one
 * of a chain that the node had then; balances must be the node's at the block they say they are of.
 */
export function callFleet(
  fleet: Fleet,
  {
    chain,
    truth,
    random,
    callers
  }: {
    readonly chain: ChaosChain
    readonly truth: Truth
    readonly random: Random
    readonly callers: number
  }
): Load {
  const counts = new Map<string, number>()
  const wrongs: string[] = []
  const toJudge: { readonly told: ToldHistory; readonly hashes: readonly string[]; readonly from: string }[] =
    []
  const blocksToJudge: { readonly hash: string; readonly asked: Asked; readonly from: string }[] = []
  let answered = 0
  let isOver = false
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const pick = <T>(items: readonly T[]): T | undefined => items[random.below(items.length)]

  async function history(member: Member, address: string, limit?: number): Promise<void> {
    const askedAtMs = performance.now()
    const records = await ask<TransactionRecord[]>(member, 'svc_getTransactionsByAddress', [
      address,
      ...(limit === undefined ? [] : [{ limit }])
    ])
    if (records === undefined) return
    const confirmed = records.filter(isConfirmed)
    const told: ToldHistory = {
      ...{ address, askedAtMs, toldAtMs: performance.now() },
      confirmed: confirmed.map(({ hash, blockNumber }) => `${hash} ${blockNumber}`),
      ...(limit === undefined ? {} : { limit: limit - (records.length - confirmed.length) })
    }
    toJudge.push({ told, hashes: records.map(({ hash }) => hash), from: member.name })
  }

  async function holdings(member: Member, address: string): Promise<void> {
    const askedAtMs = performance.now()
    const found = await ask<EvmHoldings>(member, 'svc_getTokensAndNFTs', [address])
    if (found?.asOf === undefined) return
    const hash = found.asOf.blockHash
    blocksToJudge.push({ hash, asked: { askedAtMs, toldAtMs: performance.now() }, from: member.name })
    const told = new Map(found.tokens.map(token => [token.address.toLowerCase(), token.amount]))
    const left = JSON.stringify(found.incomplete ?? 'nothing incomplete')
    const compare = async (what: string, amount: string, read: (hash: string) => Promise<string>) => {
      const actual = await read(hash)
      if (actual === amount) return
      if (await isOfAnotherMoment(hash, amount, read)) count('balances that the node told of its next block')
      else
        wrongs.push(
          `${member.name}: ${address} has ${amount}${what} at ${hash}, the node says ${actual}; ${left}`
        )
    }
    try {
      await compare('', found.native, async blockHash =>
        decimal(await chain.rpc('eth_getBalance', address, { blockHash }))
      )
      for (const contract of truth.erc20sOf(address)) {
        const data = `0x70a08231${address.slice(2).padStart(64, '0')}`
        await compare(` of ${contract}`, told.get(contract) ?? '0', async blockHash =>
          decimal(await chain.rpc('eth_call', { to: contract, data }, { blockHash }))
        )
      }
      count('balances compared')
    } catch {
      // The node has replaced that block meanwhile.
      count('balances of blocks that were replaced')
    }
  }

  /**
   * Asked for its newest block, also by hash, while it makes the next one, anvil may answer with the state of that next one:
   * a server is told so, or this reader of the truth was.
   */
  async function isOfAnotherMoment(
    hash: string,
    amount: string,
    read: (hash: string) => Promise<string>
  ): Promise<boolean> {
    const block = (await chain.rpc('eth_getBlockByHash', hash, false)) as { number: string }
    const height = `0x${(Number(block.number) + 1).toString(16)}`
    const next = (await chain.rpc('eth_getBlockByNumber', height, false)) as Child | null
    if (next?.parentHash !== hash) return false
    return (await read(hash)) === amount || (await read(next.hash)) === amount
  }

  /** @returns absent when there is no answer, which is judged here. */
  async function ask<T>(member: Member, method: string, params: readonly unknown[]): Promise<T | undefined> {
    const { disturbances, state } = member
    const reply = await send<T>(member, method, params)
    if ('result' in reply) {
      answered++
      count(method)
      return reply.result
    }
    if ('refused' in reply) {
      count(`refused: ${reply.refused}`)
      if (!notNow.has(reply.refused)) wrongs.push(`${member.name}: ${method} refused: ${reply.refused}`)
      return undefined
    }
    count('no answer')
    if (state === 'up' && member.disturbances === disturbances) {
      wrongs.push(`${member.name}: ${method} failed for no reason: ${reply.failed}`)
    }
    return undefined
  }

  function judge(): void {
    const untilMs = truth.knownUntilMs()
    for (const { told, hashes, from } of takeWhere(toJudge, ({ told }) => told.toldAtMs < untilMs)) {
      if (new Set(hashes).size < hashes.length)
        wrongs.push(`${from}: ${told.address} has one hash twice: ${hashes}`)
      const unknown = hashes.find(hash => !chain.everHashes.has(hash))
      if (unknown !== undefined) wrongs.push(`${from}: ${told.address} has ${unknown}, which nobody sent`)
      const why = truth.judge(told)
      if (why !== undefined) wrongs.push(`${from}: ${why}`)
    }
    for (const { hash, asked, from } of takeWhere(blocksToJudge, ({ asked }) => asked.toldAtMs < untilMs)) {
      if (!truth.hadBlock(hash, asked))
        wrongs.push(`${from}: holdings as of ${hash}, which no index was at then`)
    }
  }

  async function call(): Promise<void> {
    while (!isOver) {
      const member = pick(fleet.members().filter(({ state }) => state === 'up'))
      const address = pick([...chain.everAddresses])
      if (member === undefined || address === undefined) {
        await sleep(20)
        continue
      }
      const kind = random.below(4)
      if (kind === 0) await holdings(member, address)
      else await history(member, address, kind === 1 ? 1 + random.below(12) : undefined)
      judge()
      await sleep(5)
    }
  }
  const ended = Promise.all(Array.from({ length: callers }, call))

  return {
    counts,
    wrongs,
    answered: () => answered,
    async stop() {
      isOver = true
      await ended
      judge()
    }
  }
}

/** Takes those out of a list that are wanted. */
function takeWhere<T>(list: T[], isWanted: (item: T) => boolean): T[] {
  const all = list.splice(0)
  list.push(...all.filter(item => !isWanted(item)))
  return all.filter(isWanted)
}

async function send<T>(member: Member, method: string, params: readonly unknown[]): Promise<Reply<T>> {
  try {
    const response = await fetch(`${member.url}/evm-chain`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: 31337, method, params }),
      signal: AbortSignal.timeout(patienceMs)
    })
    const { result, error } = (await response.json()) as {
      result?: T
      error?: { readonly data: { readonly reason: string } }
    }
    return error === undefined ? { result: result as T } : { refused: error.data.reason }
  } catch (error) {
    return { failed: `${error instanceof Error ? `${error.message} ${error.cause ?? ''}` : error}` }
  }
}

interface Child {
  readonly hash: string
  readonly parentHash: string
}

function decimal(quantity: unknown): string {
  return String(BigInt(String(quantity)))
}
