import { concat, ZeroAddress } from 'ethers'
import { type DevContractName, devContract } from './contracts.ts'
import type { EvmContract, EvmWorld } from './EvmWorld.ts'
import { evmAccount } from './evmTruth.ts'
import type { EvmIntent } from './signIntent.ts'

/** What a call of one of our contracts adds to an intent: its target, its data and what it changes. */
export type EvmCall = Required<Pick<EvmIntent, 'to' | 'data'>> &
  Pick<EvmIntent, 'effects' | 'valueWei' | 'from'>

const abis = { erc20: 'DevToken', erc721: 'DevNft', erc1155: 'DevMultiToken', other: 'DevRelay' } as const

/** Creation of a contract of ours. */
export function createContract(
  name: DevContractName,
  args: unknown[],
  creates?: EvmIntent['creates']
): Pick<EvmIntent, 'data' | 'creates'> {
  const { abi, bytecode } = devContract(name)
  return { data: concat([bytecode, abi.encodeDeploy(args)]), ...(creates === undefined ? {} : { creates }) }
}

/** Finds the address of an account by its name. */
type AddressOf = (name: string) => string

/**
 * Calls that mean something, written once with their effects.
 *
 * Senders and receivers are account names of the world; contracts are taken as they are.
 */
export function createEvmCalls(world: EvmWorld) {
  const address = (name: string) => evmAccount(world, name).address
  return {
    ...erc20Calls(address),
    ...relayCalls(address),
    ...erc721Calls(address),
    ...erc1155Calls(address)
  }
}

/** The calls of {@link createEvmCalls}. */
export type EvmCalls = ReturnType<typeof createEvmCalls>

function call(contract: EvmContract, method: string, args: unknown[]) {
  return {
    to: contract.address,
    data: devContract(abis[contract.kind]).abi.encodeFunctionData(method, args)
  }
}

function erc20Calls(address: AddressOf) {
  return {
    /** New base units for `to`; anybody may mint. */
    erc20Mint: (from: string, token: EvmContract, to: string, amount: bigint): EvmCall => ({
      from,
      ...call(token, 'mint', [address(to), amount]),
      effects: [{ kind: 'erc20', contract: token.address, from: ZeroAddress, to: address(to), amount }]
    }),
    /** Base units from the sender. */
    erc20Transfer: (from: string, token: EvmContract, to: string, amount: bigint): EvmCall => ({
      from,
      ...call(token, 'transfer', [address(to), amount]),
      effects: [{ kind: 'erc20', contract: token.address, from: address(from), to: address(to), amount }]
    }),
    /** Destroys base units of the sender. */
    erc20Burn: (from: string, token: EvmContract, amount: bigint): EvmCall => ({
      from,
      ...call(token, 'burn', [amount]),
      effects: [{ kind: 'erc20', contract: token.address, from: address(from), to: ZeroAddress, amount }]
    }),
    /** Lets `spender` move base units of the sender; no holding changes. */
    erc20Approve: (from: string, token: EvmContract, spender: string, amount: bigint): EvmCall => ({
      from,
      ...call(token, 'approve', [spender, amount])
    })
  }
}

function relayCalls(address: AddressOf) {
  return {
    /** Several transfers out of the caller's balance in one transaction; needs an approval. */
    relayPay: (
      from: string,
      relay: EvmContract,
      token: EvmContract,
      payments: { to: string; amount: bigint }[]
    ): EvmCall => ({
      from,
      ...call(relay, 'pay', [token.address, payments.map(p => address(p.to)), payments.map(p => p.amount)]),
      effects: payments.map(({ to, amount }) => ({
        kind: 'erc20',
        contract: token.address,
        from: address(from),
        to: address(to),
        amount
      }))
    }),
    /** Transfers, then reverts everything; needs an approval to come that far. */
    relayPayThenFail: (
      from: string,
      relay: EvmContract,
      token: EvmContract,
      to: string,
      amount: bigint
    ): EvmCall => ({ from, ...call(relay, 'payThenFail', [token.address, address(to), amount]) }),
    /** Ether through a contract: the receiver only takes part in an internal transfer. */
    relayForward: (from: string, relay: EvmContract, to: string, valueWei: bigint): EvmCall => ({
      from,
      valueWei,
      ...call(relay, 'forward', [address(to)]),
      effects: [{ kind: 'internal', from: relay.address, to: address(to), valueWei }]
    }),
    /** A call that always reverts. */
    relayFail: (from: string, relay: EvmContract): EvmCall => ({ from, ...call(relay, 'fail', []) })
  }
}

function erc721Calls(address: AddressOf) {
  return {
    /** A new token with its URI. */
    erc721Mint: (from: string, nft: EvmContract, to: string, tokenId: bigint, uri: string): EvmCall => ({
      from,
      ...call(nft, 'mint', [address(to), tokenId, uri]),
      effects: [
        { kind: 'erc721', contract: nft.address, from: ZeroAddress, to: address(to), tokenId },
        { kind: 'uri', contract: nft.address, tokenId, uri }
      ]
    }),
    /** A token of the sender. */
    erc721Transfer: (from: string, nft: EvmContract, to: string, tokenId: bigint): EvmCall => ({
      from,
      ...call(nft, 'transferFrom', [address(from), address(to), tokenId]),
      effects: [{ kind: 'erc721', contract: nft.address, from: address(from), to: address(to), tokenId }]
    }),
    /** Destroys a token of the sender; its id exists no more. */
    erc721Burn: (from: string, nft: EvmContract, tokenId: bigint): EvmCall => ({
      from,
      ...call(nft, 'burn', [tokenId]),
      effects: [{ kind: 'erc721', contract: nft.address, from: address(from), to: ZeroAddress, tokenId }]
    }),
    /** Gives a token, of ERC-721 or ERC-1155, another URI. */
    setTokenUri: (from: string, nft: EvmContract, tokenId: bigint, uri: string): EvmCall => ({
      from,
      ...call(nft, nft.kind === 'erc721' ? 'setTokenURI' : 'setURI', [tokenId, uri]),
      effects: [{ kind: 'uri', contract: nft.address, tokenId, uri }]
    })
  }
}

function erc1155Calls(address: AddressOf) {
  return {
    /** New units of one id. */
    erc1155Mint: (
      from: string,
      multi: EvmContract,
      to: string,
      tokenId: bigint,
      amount: bigint
    ): EvmCall => ({
      from,
      ...call(multi, 'mint', [address(to), tokenId, amount]),
      effects: [
        { kind: 'erc1155', contract: multi.address, from: ZeroAddress, to: address(to), tokenId, amount }
      ]
    }),
    /** New units of several ids: one TransferBatch log. */
    erc1155MintBatch: (
      from: string,
      multi: EvmContract,
      to: string,
      items: { tokenId: bigint; amount: bigint }[]
    ): EvmCall => ({
      from,
      ...call(multi, 'mintBatch', [address(to), items.map(i => i.tokenId), items.map(i => i.amount)]),
      effects: items.map(item => ({
        kind: 'erc1155',
        contract: multi.address,
        from: ZeroAddress,
        to: address(to),
        ...item
      }))
    }),
    /** Units of one id from the sender. */
    erc1155Transfer: (
      from: string,
      multi: EvmContract,
      to: string,
      tokenId: bigint,
      amount: bigint
    ): EvmCall => ({
      from,
      ...call(multi, 'safeTransferFrom', [address(from), address(to), tokenId, amount, '0x']),
      effects: [
        { kind: 'erc1155', contract: multi.address, from: address(from), to: address(to), tokenId, amount }
      ]
    }),
    /** Units of several ids from the sender: one TransferBatch log. */
    erc1155BatchTransfer: (
      from: string,
      multi: EvmContract,
      to: string,
      items: { tokenId: bigint; amount: bigint }[]
    ): EvmCall => ({
      from,
      ...call(multi, 'safeBatchTransferFrom', [
        ...[address(from), address(to)],
        ...[items.map(i => i.tokenId), items.map(i => i.amount), '0x']
      ]),
      effects: items.map(item => ({
        kind: 'erc1155',
        contract: multi.address,
        from: address(from),
        to: address(to),
        ...item
      }))
    })
  }
}
