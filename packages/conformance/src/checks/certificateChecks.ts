import { type HistoryCertificate, isConfirmed } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { EvmAccount, Reading, Subject } from '../survey/Subject.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { eachShown } from './eachShown.ts'
import { Broken, holds, NotShown } from './verdicts.ts'

const method = 'svc_verifyHistory'

type Certificate = Reading<HistoryCertificate>

const known = new WeakMap<Subject, Promise<readonly { account: EvmAccount; certificate: Certificate }[]>>()

/** Each account takes many calls to the node: a few are enough to see the forms. */
const mostCertificates = 4

/** The certificates of some accounts, read once. */
function certificatesOf(subject: Subject) {
  const found = known.get(subject)
  if (found !== undefined) return found
  const reading = subject.evmAccounts().then(accounts =>
    Promise.all(
      accounts
        .filter(({ isWhole }) => isWhole)
        .slice(0, mostCertificates)
        .map(async account => ({ account, certificate: await readCertificate(subject, account.address) }))
    )
  )
  known.set(subject, reading)
  return reading
}

function readCertificate(subject: Subject, address: string): Promise<Certificate> {
  return subject.read(method, [address], '/evm-chain')
}

/** Looks at each certificate; whose form is wrong, the check of forms says, and the others cannot look. */
function onCertificates(look: (certificate: Certificate, account: EvmAccount) => void): Check['run'] {
  return async subject => {
    const certificates = await certificatesOf(subject)
    await eachShown(certificates, 'account', ({ account, certificate }) => {
      if (checkResult(method, certificate.value) !== undefined)
        throw new NotShown('a certificate is malformed')
      look(certificate, account)
      return 1
    })
  }
}

async function checkSchema(subject: Subject): Promise<void> {
  await eachShown(await certificatesOf(subject), 'account', ({ certificate: { value, exchange } }) => {
    const mistake = checkResult(method, value)
    if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
    return 1
  })
}

/** Each sum and each difference is what its parts come to. */
function checkSums({ value, exchange }: Certificate): void {
  const { parts, computed, balance, difference } = value.native
  const sum = (names: readonly (keyof typeof parts)[]) =>
    names.reduce((total, name) => total + BigInt(parts[name] ?? '0'), 0n)
  if (parts.opening !== undefined) {
    const total =
      sum(['opening', 'received', 'internalReceived', 'withdrawals', 'rewards', 'tips', 'minted']) -
      sum(['sent', 'fees', 'internalSent', 'burned'])
    holds(computed === String(total), () => `native: the parts come to ${total}, not ${computed}`, exchange)
  }
  checkDifference('native', balance, computed, difference, exchange)
  checkNonces(value, exchange)
  for (const check of [...value.tokens, ...value.nfts]) {
    const { opening, received, sent } = check
    const total =
      opening === undefined ? undefined : String(BigInt(opening) + BigInt(received) - BigInt(sent))
    checkDifference(check.address, check.balance, total, check.difference, exchange)
  }
}

/** What is proven to be sent comes to the chain's count, or to more, where transactions of a chain's own type use no nonce. */
function checkNonces({ sent }: HistoryCertificate, exchange: Certificate['exchange']): void {
  const { verdict, opening, transactions, authorizations, creations, birth = 0, count } = sent
  if (verdict !== 'proven' || opening === undefined || count === undefined) return
  const total = BigInt(opening) + BigInt(transactions + authorizations + creations + birth)
  holds(total >= BigInt(count), () => `sent: the parts come to ${total}, the count is ${count}`, exchange)
}

/** What may be missing keeps a history from being proven. */
function checkLacks({ covers, complete }: HistoryCertificate, exchange: Certificate['exchange']): void {
  const isHonest = covers.lacks === undefined || complete !== 'proven'
  holds(isHonest, () => `complete is proven, and may lack ${covers.lacks?.join()}`, exchange)
}

function checkDifference(
  what: string,
  balance: string | undefined,
  computed: string | undefined,
  difference: string | undefined,
  exchange: Certificate['exchange']
): void {
  const isKnown = balance !== undefined && computed !== undefined
  const expected = isKnown ? String(BigInt(balance) - BigInt(computed)) : undefined
  holds(difference === expected, () => `${what}: the difference is ${difference}, not ${expected}`, exchange)
}

/** The overall verdict follows from those of the parts, and what is not proven is told. */
function checkVerdict({ value, exchange }: Certificate): void {
  const { index, sent, operations, native, tokens, nfts, complete, unaltered, findings, verdict } = value
  const whole = worstOf([index, sent, operations, native, ...tokens, ...nfts])
  const isComplete = complete === undefined || complete === whole
  holds(isComplete, () => `complete is ${complete}, the checks make it ${whole}`, exchange)
  const worst = worstOf([{ verdict: whole }, unaltered])
  holds(verdict === worst, () => `it is ${verdict}, its checks make it ${worst}`, exchange)
  checkLacks(value, exchange)
  const isTold = worst === 'proven' || findings.length > 0
  holds(isTold, () => `it is ${verdict}, and no finding says why`, exchange)
}

function worstOf(checks: readonly ({ readonly verdict: string } | undefined)[]): string {
  return ['failed', 'unprovable'].find(each => checks.some(check => check?.verdict === each)) ?? 'proven'
}

/** What is said of blocks fits together, and nothing is called unaltered that was not compared. */
function checkUnaltered({ value: { unaltered }, exchange }: Certificate): void {
  if (unaltered === undefined) return
  const { verdict, blocks, checksums, roots } = unaltered
  const counts = `${checksums} and ${roots} of ${blocks} blocks`
  holds(checksums <= blocks && roots <= blocks, () => `it compared ${counts}`, exchange)
  const isShown = verdict !== 'proven' || checksums === blocks || roots === blocks
  holds(isShown, () => `unaltered is proven by ${counts}`, exchange)
}

function checkHolds({ value, exchange }: Certificate): void {
  const [finding] = value.findings
  const words = () => `the history of ${value.address} is not whole: ${finding?.kind} ${finding?.message}`
  holds(value.verdict !== 'failed', words, exchange)
}

/** Counts of the certificate against the history up to its block. */
async function checkHistory(subject: Subject): Promise<void> {
  await eachShown(await certificatesOf(subject), 'account', async ({ account, certificate }) => {
    if (checkResult(method, certificate.value) !== undefined) throw new NotShown('a certificate is malformed')
    const { address, covers, index, sent } = certificate.value
    const isOwn = address.toLowerCase() === account.address.toLowerCase()
    holds(isOwn, () => `it is about ${address}`, certificate.exchange)
    // Read behind the certificate, so that nothing of its blocks can be missing yet.
    const history = await subject.read('svc_getTransactionsByAddress', [account.address])
    const records = history.value
      .filter(isConfirmed)
      .filter(
        ({ blockNumber }) =>
          blockNumber !== undefined && blockNumber >= covers.from && blockNumber <= covers.to
      )
    const own = records.filter(({ from }) => from.toLowerCase() === account.address.toLowerCase())
    const counts = { transactions: index.transactions, sent: sent.transactions }
    const different = differenceOf(counts, { transactions: records.length, sent: own.length })
    holds(
      different === undefined,
      () => `${different} as in the history`,
      history.exchange,
      certificate.exchange
    )
    return 1
  })
}

/** Balances of the certificate against holdings of the same block. */
async function checkHoldings(subject: Subject): Promise<void> {
  const compared = await Promise.all(
    (await certificatesOf(subject)).map(async ({ account: { address }, certificate: first }) => {
      let certificate = first
      for (let attempt = 0; attempt < 3; attempt++) {
        const holdings = await subject.read('svc_getTokensAndNFTs', [address])
        if (holdings.value.asOf?.blockHash === certificate.value.asOf?.blockHash) {
          compareBalances(certificate, holdings)
          return true
        }
        certificate = await readCertificate(subject, address)
      }
      return false
    })
  )
  if (!compared.includes(true)) throw new NotShown('certificates and holdings were never of one block')
}

function compareBalances(
  { value, exchange }: Certificate,
  holdings: Reading<{ native: string; tokens: { address: string; amount: string }[] }>
): void {
  const { balance } = value.native
  const exchanges = [holdings.exchange, exchange]
  const same = balance === undefined || balance === holdings.value.native
  holds(same, () => `native: ${balance} against ${holdings.value.native}`, ...exchanges)
  for (const { address, amount } of holdings.value.tokens) {
    const told = value.tokens.find(token => token.address === address)?.balance
    const fits = told === undefined || told === amount
    holds(fits, () => `${address}: ${told} against ${amount}`, ...exchanges)
  }
}

const base = {
  endpoints: ['/evm-chain'],
  where: '#/components/schemas/HistoryCertificate',
  extension: method
} as const

/** What holds for the certificates of every service that gives some. */
export const certificateChecks: readonly Check[] = [
  {
    ...base,
    name: 'certificate/schema',
    shows: 'A certificate has the members, types and forms of the document, and no others.',
    run: checkSchema
  },
  {
    ...base,
    name: 'certificate/sums',
    shows: 'Sums and differences are what their parts come to.',
    where: '#/components/schemas/NativeCheck',
    run: onCertificates(checkSums)
  },
  {
    ...base,
    name: 'certificate/verdict',
    shows: 'The verdict follows from those of the checks, and what is not proven is told.',
    where: '#/components/schemas/HistoryCertificate/properties/verdict',
    run: onCertificates(checkVerdict)
  },
  {
    ...base,
    name: 'certificate/unaltered',
    shows: 'Nothing is called unaltered that was not compared.',
    where: '#/components/schemas/UnalteredCheck',
    run: onCertificates(checkUnaltered)
  },
  {
    ...base,
    name: 'certificate/complete',
    shows: 'No certificate says that something is missing or altered.',
    where: '#/components/schemas/Verdict',
    run: onCertificates(checkHolds)
  },
  {
    ...base,
    name: 'certificate/history',
    shows: 'It counts the transactions that the history has.',
    where: '#/components/schemas/IndexCheck',
    run: checkHistory
  },
  {
    ...base,
    name: 'certificate/holdings',
    shows: 'Its balances are those of the holdings at the same block.',
    where: '#/components/schemas/TokenCheck/properties/balance',
    run: checkHoldings
  }
]
