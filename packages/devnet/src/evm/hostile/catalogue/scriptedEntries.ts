import type { HostileNftTruth, HostileOutcome, HostileToken, HostileTokenTruth } from '../HostileToken.ts'
import { fungibleLog, type Script, scriptedToken, text, uniqueLog, unitsLog, word } from '../scriptedToken.ts'

/** What {@link scriptedErc20} answers unless told otherwise, for everybody. */
export const plainToken: HostileTokenTruth = { amount: 1000n, decimals: 6, name: 'Scripted', symbol: 'SCR' }

/** The only id of {@link scriptedErc721} and {@link scriptedErc1155}. */
export const scriptedId = 7n

/** What {@link scriptedErc721} answers unless told otherwise. */
export const plainNft: HostileNftTruth = {
  tokenId: scriptedId,
  balance: 1n,
  isSemiFungible: false,
  tokenUri: 'data:application/json,{"name":"Seven"}',
  name: 'Seven',
  symbol: 'SCN',
  data: { name: 'Seven' },
  image: ''
}

/** What {@link scriptedErc1155} answers unless told otherwise. */
export const plainUnits: HostileNftTruth = {
  ...plainNft,
  balance: 50n,
  isSemiFungible: true,
  symbol: 'SCM'
}

type Entry = Pick<HostileToken, 'key' | 'about'>
type Outcome = HostileOutcome | ((setting: Parameters<HostileToken['outcomes']>[0]) => HostileOutcome)

const outcomesOf = (outcome: Outcome): HostileToken['outcomes'] =>
  typeof outcome === 'function' ? setting => [outcome(setting)] : () => [outcome]

/** An ERC-20 token that logs a mint to the holder. @param changes - `undefined` takes an answer away. */
export function scriptedErc20(
  entry: Entry,
  changes: { [Question in keyof Script]: Script[Question] | undefined },
  outcome: Outcome
): HostileToken {
  const script = present({
    balanceOf: word(plainToken.amount),
    decimals: word(BigInt(plainToken.decimals)),
    name: text(plainToken.name),
    symbol: text(plainToken.symbol),
    ...changes
  })
  return {
    ...entry,
    play: ({ create, holder }) => create(scriptedToken(script, [fungibleLog(holder, plainToken.amount)])),
    outcomes: outcomesOf(outcome)
  }
}

/** A collection that logs the mint of {@link scriptedId} to the holder. */
export function scriptedErc721(
  entry: Entry,
  changes: (holder: string) => { [Question in keyof Script]: Script[Question] | undefined },
  outcome: Outcome
): HostileToken {
  return {
    ...entry,
    play({ create, holder }) {
      const script = present({
        ownerOf: word(holder),
        tokenURI: text(plainNft.tokenUri),
        name: text('Scripted Collection'),
        symbol: text(plainNft.symbol),
        ...changes(holder)
      })
      return create(scriptedToken(script, [uniqueLog(holder, scriptedId)]))
    },
    outcomes: outcomesOf(outcome)
  }
}

/** A multi-token that logs the mint of units of {@link scriptedId} to the holder. */
export function scriptedErc1155(
  entry: Entry,
  changes: { [Question in keyof Script]: Script[Question] | undefined },
  outcome: Outcome
): HostileToken {
  const script = present({
    unitsOf: word(plainUnits.balance),
    uri: text(plainUnits.tokenUri),
    name: text('Scripted Units'),
    symbol: text(plainUnits.symbol),
    ...changes
  })
  return {
    ...entry,
    play: ({ create, holder }) => create(scriptedToken(script, [unitsLog(holder, scriptedId, 50n)])),
    outcomes: outcomesOf(outcome)
  }
}

function present(changes: { [Question in keyof Script]: Script[Question] | undefined }): Script {
  const script: Script = {}
  for (const [question, answer] of Object.entries(changes)) {
    if (answer !== undefined) script[question as keyof Script] = answer
  }
  return script
}
