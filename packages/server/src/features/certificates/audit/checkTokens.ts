import { zeroAddress } from '../../../evm/blocks/log.ts'
import type { Audit, CheckVerdict } from './Audit.ts'
import type { TokenBalance, TokenName } from './accountState.ts'
import { tokenChange, tokenKey } from './changes.ts'
import { classifyChange, type Explanation } from './classifyChange.ts'
import { followDifference } from './followDifference.ts'
import type { TokenSums } from './sumHistory.ts'

export interface TokenResult {
  readonly token: TokenName
  readonly verdict: CheckVerdict
  readonly transfers: number
  readonly opening?: bigint
  readonly received: bigint
  readonly sent: bigint
  readonly balance?: bigint
  readonly explanation?: Explanation
}

/** Maximum of changes of one token that are examined: enough for an explanation; lost rows show in the index itself. */
const maxChanges = 4

/** Compares the transfers of each token with the balance that its contract reports, in the order of `tokenKey`. */
export async function checkTokens(audit: Audit, indexVerdict: CheckVerdict): Promise<readonly TokenResult[]> {
  const { sums, hintedTokens, openingHeight, to } = audit.indexed
  const all = [...sums.tokens.values(), ...hintedTokens.map(noTransfers)].sort((a, b) =>
    tokenKey(a.token) < tokenKey(b.token) ? -1 : 1
  )
  const tokens = all.map(({ token }) => token)
  if (tokens.length === 0) return []
  const balances = await audit.state.balances(tokens, to)
  const hasOpening = (await audit.opening()) !== undefined
  if (!hasOpening) audit.missingOpening()
  const openings = hasOpening ? await audit.state.balances(tokens, openingHeight) : []
  const results: TokenResult[] = []
  for (const [place, tokenSums] of all.entries()) {
    const balance = balances[place] ?? unknown
    const opening = openings[place] ?? unknown
    // A token that was never logged is left out while its balance has not changed either.
    if (!sums.tokens.has(tokenKey(tokenSums.token)) && !isChanged(opening, balance)) continue
    results.push(await checkToken(audit, indexVerdict, tokenSums, { balance, opening }))
  }
  return results
}

const unknown: TokenBalance = { kind: 'unknown' }

function noTransfers(token: TokenName): TokenSums {
  return { token, transfers: 0, received: 0n, sent: 0n, wrappings: 0, wrapped: 0n, unwrapped: 0n }
}

function isChanged(opening: TokenBalance, balance: TokenBalance): boolean {
  if (balance.kind !== 'read' || opening.kind === 'unknown') return false
  return balance.amount !== (opening.kind === 'read' ? opening.amount : 0n)
}

async function checkToken(
  audit: Audit,
  indexVerdict: CheckVerdict,
  sums: TokenSums,
  state: { readonly balance: TokenBalance; readonly opening: TokenBalance }
): Promise<TokenResult> {
  const { token } = sums
  const balance = amountOf(state.balance)
  // A contract that does not answer yet is not there yet.
  const opening = state.opening.kind === 'refused' ? 0n : amountOf(state.opening)
  const { form, ...counted } = countedWith(sums, balance, opening)
  const result = {
    ...{ token, ...counted },
    ...(opening !== undefined && { opening }),
    ...(balance !== undefined && { balance })
  }
  if (balance === undefined) return { ...result, ...judgeUnread(audit, indexVerdict, sums, state.balance) }
  if (opening === undefined) return { ...result, verdict: 'unprovable' }
  const difference = balance - opening - counted.received + counted.sent
  if (difference === 0n) return { ...result, verdict: 'proven' }
  if (audit.indexed.account === zeroAddress) return { ...result, ...explained(indexVerdict, 'mint-and-burn') }
  const judged = await followToken(audit, indexVerdict, token, form, opening, difference)
  return { ...result, ...judged }
}

/** Says whether wrapping is added to the transfers: some contracts log it instead of them, others as well. */
type Form = 'transfers' | 'with wrapping'

/** Adds up in the way that fits the balance; where none does, as the contract's wrapping suggests. */
function countedWith(
  { transfers, received, sent, wrappings, wrapped, unwrapped }: TokenSums,
  balance: bigint | undefined,
  opening: bigint | undefined
): { form: Form; transfers: number; received: bigint; sent: bigint } {
  const plain = { form: 'transfers' as const, transfers, received, sent }
  if (wrappings === 0) return plain
  const whole = {
    form: 'with wrapping' as const,
    transfers: transfers + wrappings,
    received: received + wrapped,
    sent: sent + unwrapped
  }
  const isPlainRight = balance !== undefined && opening !== undefined && balance === opening + received - sent
  return isPlainRight ? plain : whole
}

function amountOf(balance: TokenBalance): bigint | undefined {
  return balance.kind === 'read' ? balance.amount : undefined
}

type Judged = Pick<TokenResult, 'verdict' | 'explanation'>

/** Explains a difference by the contract; the count of the index's rows has to show that nothing is missing. */
function explained(indexVerdict: CheckVerdict, explanation: Explanation | undefined): Judged {
  return {
    verdict: indexVerdict === 'proven' ? 'explained' : 'unprovable',
    ...(explanation && { explanation })
  }
}

function judgeUnread(
  audit: Audit,
  indexVerdict: CheckVerdict,
  { token }: TokenSums,
  balance: TokenBalance
): Judged {
  audit.findings.add({
    kind: 'BALANCE_UNREADABLE',
    message: `The contract ${token.contract} does not answer balanceOf.`,
    address: token.contract,
    ...(token.tokenId !== undefined && { tokenId: token.tokenId })
  })
  return balance.kind === 'refused' ? explained(indexVerdict, 'no-balance') : { verdict: 'unprovable' }
}

async function followToken(
  audit: Audit,
  indexVerdict: CheckVerdict,
  token: TokenName,
  form: Form,
  opening: bigint,
  difference: bigint
): Promise<Judged> {
  const { account } = audit.indexed
  const netOf = ({ logged, wrapped }: ReturnType<typeof tokenChange>) =>
    form === 'transfers' ? logged : logged + wrapped
  const { changes, end } = await followDifference(audit, {
    quantity: {
      change: ({ transfers = [] }) => netOf(tokenChange(transfers, token, account)),
      changeByEvents: () => 0n
    },
    read: async heights => {
      const balances = await audit.state.balanceAt(token, heights)
      // Before its first block the contract does not exist, and refuses.
      return balances.map(balance => (balance.kind === 'refused' ? 0n : amountOf(balance)))
    },
    ...{ opening, difference, maxChanges }
  })
  if (changes.some(({ examination }) => examination.missing.length > 0)) return { verdict: 'failed' }
  if (changes.some(({ height }) => audit.isUnknownAt(height))) return { verdict: 'unprovable' }
  if (end === 'unreadable') audit.missingState()
  const [first] = changes
  const explanation = first && (await classifyChange(audit.state, account, token, first))
  if (end === 'done' && changes.every(({ examination }) => examination.block !== undefined)) {
    return { verdict: 'explained', ...(explanation && { explanation }) }
  }
  const judged = explained(indexVerdict, explanation)
  if (judged.verdict === 'unprovable') {
    audit.findings.add({
      kind: 'UNEXPLAINED_BALANCE',
      message: `The balance of ${token.contract} differs by ${difference} from what was logged.`,
      address: token.contract,
      ...(token.tokenId !== undefined && { tokenId: token.tokenId })
    })
  }
  return judged
}
