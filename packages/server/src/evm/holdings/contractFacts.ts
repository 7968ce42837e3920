import type { Address, Hex } from '@chain-data/index'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { decodeBool, decodeText, decodeUint, hasFormOfText, type ReturnData } from '../state/abi.ts'
import type { ContractCall } from '../state/contractCalls.ts'
import type { Multicall } from '../state/multicall.ts'

/** Facts of a contract that hardly ever change. One that it does not answer, or answers in a broken way, is absent. */
export interface ContractFacts {
  /** 0 to 255. */
  readonly decimals?: number
  /** As the contract gives it, cut at 2,048 characters: not to be shown as it is. */
  readonly name?: string
  readonly symbol?: string
  /** By ERC-165. */
  readonly isErc721?: boolean
  readonly isErc1155?: boolean
}

type FactName = keyof ContractFacts

/** Facts of one chain's contracts, for one snapshot. */
export type ContractFactsReader = ReturnType<typeof createContractFactsReader>

type Fact = string | number | boolean

interface FactQuestion {
  readonly data: Hex
  readonly decode: (data: ReturnData) => Fact | undefined
}

const maxTextCharacters = 2_048
const text = (data: ReturnData) => decodeText(data)?.slice(0, maxTextCharacters)

/** Hex digits of one ABI word: all that an honest number takes. */
const wordDigits = 64

/** A number above 255 is no `uint8`, whatever its lowest byte says; nor is the 32 with which a string begins. */
const uint8 = (data: ReturnData) => {
  const value = decodeUint(data)
  const isString = data.length > wordDigits && value === 32n && hasFormOfText(data)
  return value === undefined || value > 255n || isString ? undefined : Number(value)
}

/** `supportsInterface(bytes4)` */
const supportsInterface = (id: string): Hex => `0x01ffc9a7${id.padEnd(64, '0')}`

const questions: Readonly<Record<FactName, FactQuestion>> = {
  decimals: { data: '0x313ce567', decode: uint8 },
  name: { data: '0x06fdde03', decode: text },
  symbol: { data: '0x95d89b41', decode: text },
  isErc721: { data: supportsInterface('80ac58cd'), decode: decodeBool },
  isErc1155: { data: supportsInterface('d9b67a26'), decode: decodeBool }
}

const factGas = 300_000
/** Far more than is shown, so that a long name is cut rather than lost. */
const maxFactReturnBytes = 64 * 1024
/** Of all names and symbols of one snapshot; the rest counts as not answered. Thousands of the longest, millions of usual ones. */
const maxCharacters = 16 * 1024 * 1024
const keptForMs = 10 * 60 * 1000
const maxFacts = 50_000

interface WantedFact {
  readonly contract: Address
  readonly name: FactName
}

function factCall({ contract, name }: WantedFact): ContractCall {
  return { to: contract, data: questions[name].data, gas: factGas, maxReturnBytes: maxFactReturnBytes }
}

/** Remembered for ten minutes: contracts that proxies point to do change them. */
type RememberedFacts = BoundedMap<string, { readonly fact: Fact; readonly untilMs: number }>

/**
 * Creates the memory of one chain's contracts. After a reorg another contract may stand at the same address, so only the newest
 * branch has one.
 *
 * @returns opens a reader for one snapshot. `branch` grows with each reorg; absent: nothing is remembered.
 */
export function createFactsMemory(): (branch: number | undefined) => ContractFactsReader {
  let newest = -1
  let memory: RememberedFacts = new BoundedMap(maxFacts)
  return branch => {
    if (branch !== undefined && branch > newest) {
      newest = branch
      memory = new BoundedMap(maxFacts)
    }
    return createContractFactsReader(branch === newest ? memory : undefined)
  }
}

function createContractFactsReader(memory?: RememberedFacts) {
  const answeredNow = new Map<string, Fact>()
  let characters = 0

  return {
    /**
     * @returns the wanted facts of each contract.
     * @throws what `multicall` throws.
     * @remarks One call per contract and fact that is not remembered; unanswered ones are asked for every time.
     */
    async read(
      multicall: Multicall,
      contracts: Iterable<Address>,
      names: readonly FactName[]
    ): Promise<ReadonlyMap<Address, ContractFacts>> {
      const facts = new Map<Address, Partial<Record<FactName, Fact>>>()
      const missing: WantedFact[] = []
      for (const contract of contracts) {
        const answered: Partial<Record<FactName, Fact>> = {}
        facts.set(contract, answered)
        for (const name of names) {
          const key = `${contract} ${name}`
          const kept = memory?.get(key)
          const remembered =
            answeredNow.get(key) ?? (kept && Date.now() < kept.untilMs ? kept.fact : undefined)
          if (remembered !== undefined) answered[name] = remembered
          else missing.push({ contract, name })
        }
      }
      await multicall.callAll(missing, factCall, (result, { contract, name }) => {
        const fact = result.kind === 'returned' ? questions[name].decode(result.data) : undefined
        const answered = facts.get(contract)
        if (fact === undefined || answered === undefined) return
        if (typeof fact === 'string') {
          characters += fact.length
          if (characters > maxCharacters) return
        }
        answered[name] = fact
        answeredNow.set(`${contract} ${name}`, fact)
      })
      // Each fact was decoded by its own question, so it has its own type.
      return facts as ReadonlyMap<Address, ContractFacts>
    },
    /** Remembers the answers once the snapshot is known to be sound: a node that is left for another may have lied. */
    keep(): void {
      for (const [key, fact] of answeredNow) memory?.set(key, { fact, untilMs: Date.now() + keptForMs })
      answeredNow.clear()
    }
  }
}
