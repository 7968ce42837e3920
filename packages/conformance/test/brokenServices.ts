import { checksum } from '../src/wire/checksum.ts'
import {
  type Change,
  type Json,
  lowerAddresses,
  onAnswers,
  onHeaders,
  onHistories,
  onHoldings,
  onResults,
  onSolana,
  onText
} from './support/changes.ts'

/** A service that does one thing wrong: the answers of a sound one, changed. */
export interface BrokenService {
  /** What it does, as a clause. */
  readonly does: string
  readonly change: Change
  /** The checks that fail, all of them and no others; `*` is any text. */
  readonly fails: readonly string[]
}

/** Of the devnet. */
export interface Facts {
  /** An account with every kind of transaction, in lower case. */
  readonly alice: string
  /** Hash of a confirmed transaction between two of the accounts that are looked at, alice one of them. */
  readonly shared: string
  /** Hash of a confirmed transaction in which alice is a party only by a token transfer. */
  readonly received: string
}

const is = (one: unknown, other: string) => String(one).toLowerCase() === other
const isConfirmed = (record: Json) => record.status >= 3
const stranger = '0x52908400098527886E0F7030069857D2E4169EE7'

const transportAndIds = (): readonly BrokenService[] => [
  {
    does: 'writes a wrong code into every refusal',
    change: onAnswers(answer => {
      if (answer.error) answer.error.code -= 1
    }),
    fails: [
      'vectors/*',
      '!vectors/transport/verb-head',
      '!vectors/transport/preflight',
      'envelope/unserved-chain'
    ]
  },
  {
    does: 'has bodies where there are none',
    change: (answer, { verb }) => (verb === 'OPTIONS' ? { ...answer, status: 200, text: '{}' } : answer),
    fails: ['vectors/transport/preflight']
  },
  {
    does: 'answers HEAD as if it were served',
    change: (answer, { verb }) => (verb === 'HEAD' ? { ...answer, status: 200 } : answer),
    fails: ['vectors/transport/verb-head']
  },
  {
    does: 'rounds ids to 32-bit floats',
    change: onAnswers(answer => {
      if (typeof answer.id === 'number') answer.id = Math.fround(answer.id)
    }),
    fails: ['vectors/id/largest', 'vectors/id/smallest', 'vectors/batch/ids', 'envelope/success']
  },
  {
    does: 'turns ids of digits into numbers',
    change: onAnswers(answer => {
      if (/^\d+$/.test(answer.id)) answer.id = Number(answer.id)
    }),
    fails: ['vectors/id/digits-in-text']
  },
  {
    does: 'answers 1 where an id is unusable',
    change: onAnswers(answer => {
      if (answer.id === null && answer.error?.data.path === '/id') answer.id = 1
    }),
    fails: [
      ...[
        'too-large',
        'two-to-the-53',
        'beyond-doubles',
        'hidden-fraction',
        'null',
        'true',
        'list',
        'object'
      ].map(name => `vectors/id/${name}`),
      ...['text-too-long', 'empty-text'].map(name => `vectors/id/${name}`),
      'vectors/envelope/two-ids',
      'vectors/batch/ids',
      'vectors/svc_getSyncStatus/fractional-id'
    ]
  },
  {
    does: 'finds methods among the members of every object',
    change: onAnswers((answer, { method }) => {
      if (method !== undefined && method in {} && answer.error) answer.error.data.reason = 'INTERNAL'
    }),
    fails: ['proto', 'constructor', 'tostring', 'hasown'].map(name => `vectors/envelope/method-${name}`)
  },
  {
    does: 'gives results a chainId on the EVM endpoint',
    change: onAnswers((answer, _call, target) => {
      if (target === '/evm-chain' && 'result' in answer) answer.chainId = 31337
    }),
    fails: ['envelope/success']
  },
  {
    does: 'forgets the challenge',
    change: onHeaders(headers => delete headers['www-authenticate']),
    fails: ['vectors/transport/*credentials*', 'vectors/transport/*scheme*', 'envelope/wrong-key']
  },
  {
    does: 'tells wrong keys and unknown projects apart',
    change: (answer, { headers }) =>
      Buffer.from(headers.authorization?.slice(6) ?? '', 'base64')
        .toString()
        .startsWith('demo-of-nobody')
        ? { ...answer, status: 403 }
        : answer,
    fails: ['envelope/wrong-key']
  },
  {
    does: 'lets answers be kept',
    change: onHeaders(headers => {
      headers['cache-control'] = 'public'
    }),
    fails: ['vectors/transport/headers']
  },
  {
    does: 'does not let pages send credentials',
    change: onHeaders(headers => delete headers['access-control-allow-headers']),
    fails: ['envelope/pages']
  },
  {
    does: 'does not let pages read when to come back',
    change: onHeaders(headers => delete headers['access-control-expose-headers']),
    fails: ['envelope/pages']
  },
  {
    does: 'names its chains in any order',
    change: onAnswers(answer => {
      answer.error?.data.supportedChainIds?.unshift(99_999)
    }),
    fails: ['envelope/unserved-chain']
  },
  {
    does: 'answers batches backwards',
    change: (answer, { body }) =>
      body?.startsWith('[') && answer.text.startsWith('[')
        ? { ...answer, text: JSON.stringify(JSON.parse(answer.text).reverse()) }
        : answer,
    fails: [
      ...['order', 'alone', 'one-id', 'no-requests', 'ids', 'solana'].map(name => `vectors/batch/${name}`),
      'envelope/batch-parts'
    ]
  },
  {
    does: 'lowers addresses in batches only',
    change: (answer, { body }) =>
      body?.startsWith('[')
        ? { ...answer, text: JSON.stringify(lowerAddresses(JSON.parse(answer.text))) }
        : answer,
    fails: ['envelope/batch-parts']
  },
  {
    does: 'leaves a method out of its document',
    change: onResults('rpc.discover', document => {
      document.methods = document.methods.filter(({ name }: Json) => name !== 'svc_getTokensAndNFTs')
    }),
    fails: ['discover/document']
  },
  {
    does: 'shows another document on /solana',
    change: onAnswers((answer, { method }, target) => {
      if (method === 'rpc.discover' && target === '/solana' && answer.result)
        answer.result.info.title = 'another'
    }),
    fails: ['discover/no-chain']
  }
]

const histories = ({ alice, shared, received }: Facts): readonly BrokenService[] => [
  {
    does: 'writes null for the receiver of a creation',
    change: onHistories(records => {
      for (const record of records) record.to ??= null
    }),
    fails: ['history/schema', 'history/no-null', 'include/forms']
  },
  {
    does: 'adds a member that the document does not have',
    change: onHistories(records => {
      for (const record of records) record.confirmations = 5
    }),
    fails: ['history/schema', 'include/forms']
  },
  {
    does: 'counts in decimal text',
    change: onHistories(records => {
      for (const record of records) record.value = String(BigInt(record.value))
    }),
    fails: ['history/schema', 'include/forms']
  },
  {
    does: 'leaves the fees of failed transactions away',
    change: onHistories(records => {
      for (const record of records.filter(({ status }) => status === 4)) record.fees = undefined
    }),
    fails: ['history/schema', 'history/fees', 'include/forms']
  },
  {
    does: 'writes addresses of histories in lower case',
    change: onHistories(records => lowerAddresses(records)),
    fails: ['history/checksums', 'include/forms']
  },
  {
    does: 'writes gas limits with a fraction',
    change: onText('svc_getTransactionsByAddress', text =>
      text.replace(/"gasLimit":(\d+)/g, '"gasLimit":$1.0')
    ),
    fails: ['history/integers']
  },
  {
    does: 'puts pending records last',
    change: onHistories((records, options) =>
      options?.limit === undefined && options?.before === undefined
        ? [...records.filter(isConfirmed), ...records.filter(record => !isConfirmed(record))]
        : undefined
    ),
    fails: ['history/order', 'pages/limits', 'pages/before']
  },
  {
    does: 'lists the oldest first',
    change: onHistories((records, options) =>
      options?.limit === undefined && options?.before === undefined ? records.reverse() : undefined
    ),
    fails: ['history/order', 'history/times', 'history/nonces', 'pages/limits', 'pages/before']
  },
  {
    does: 'tells a time of its own for one transaction',
    change: onHistories(records => {
      for (const record of records) if (record.hash === shared) record.timestamp += 10_000_000
    }),
    fails: ['history/times']
  },
  {
    does: 'has no nonces',
    change: onHistories(records => {
      for (const record of records) record.nonce = 0
    }),
    fails: ['history/nonces']
  },
  {
    does: 'lists a transaction once for each of its parties',
    change: onHistories((records, options) =>
      options?.limit === undefined && options?.before === undefined
        ? records.flatMap(record => (record.hash === shared ? [record, record] : [record]))
        : undefined
    ),
    fails: ['history/once', 'history/nonces', 'pages/limits', 'pages/before', 'certificate/history']
  },
  {
    does: 'takes the base fee out of fees',
    change: onHistories(records => {
      for (const record of records.filter(isConfirmed))
        record.fees = `0x${(BigInt(record.fees) - 1n).toString(16)}`
    }),
    fails: ['history/fees']
  },
  {
    does: 'compares addresses letter by letter',
    change: onHistories((_records, _options, address) =>
      address === address.toLowerCase() && address !== `0x${'0'.repeat(40)}` ? [] : undefined
    ),
    fails: ['history/address-case']
  },
  {
    does: 'loses a transaction of one side',
    change: onHistories((records, _options, address) =>
      is(address, alice) ? records.filter(({ hash }) => hash !== shared) : undefined
    ),
    fails: ['history/both-sides', 'certificate/history']
  },
  {
    does: 'loses a transaction of the whole history only',
    change: onHistories((records, options) =>
      options?.limit === undefined && options?.before === undefined
        ? records.filter(({ hash }) => hash !== shared)
        : undefined
    ),
    fails: ['pages/limits', 'pages/before', 'certificate/history']
  },
  {
    does: 'gives one record less than a page has place for',
    change: onHistories((records, options) =>
      options?.limit > 1 && options.limit < 10 ? records.slice(0, -1) : undefined
    ),
    fails: ['pages/limits']
  },
  {
    does: 'begins a page with the last record of the one before',
    change: onHistories((records, options) =>
      options?.before === undefined || options.limit === undefined
        ? undefined
        : [{ ...records[0], hash: options.before }, ...records].slice(0, options.limit)
    ),
    fails: ['pages/limits']
  },
  {
    does: 'shows pending records on later pages too',
    change: onHistories((records, options) =>
      options?.before !== undefined && options.limit === undefined
        ? [{ ...records[0], status: 1 }, ...records]
        : undefined
    ),
    fails: ['pages/before']
  },
  {
    does: 'takes options without members for an empty page',
    change: onHistories((_records, options) =>
      options !== undefined && Object.keys(options).length === 0 ? [] : undefined
    ),
    fails: ['pages/no-options']
  },
  {
    does: 'answers a cursor that nobody knows with an empty page',
    change: onAnswers(answer => {
      if (
        answer.error?.data.path === '/params/1/before' &&
        answer.error.data.extraMessage.includes('transaction')
      ) {
        answer.error = undefined
        answer.result = []
      }
    }),
    fails: ['pages/unknown-cursor']
  },
  {
    does: 'attaches transfers that nobody asked for',
    change: onHistories((records, options) => {
      if (options?.include?.length === 0)
        for (const record of records.filter(isConfirmed)) record.transfers = []
    }),
    fails: ['include/only-adds']
  },
  {
    does: 'leaves records without transfers out where transfers are asked for',
    change: onHistories((records, options) =>
      options?.include?.length === 1 && options.include[0] === 'transfers'
        ? records.filter(({ transfers }) => transfers?.length > 0)
        : undefined
    ),
    fails: ['include/only-adds']
  },
  {
    does: 'attaches transfers of others',
    change: onHistories((records, options) => {
      if (options?.include?.length !== 3) return
      for (const { transfers = [] } of records) {
        for (const transfer of transfers) Object.assign(transfer, { from: stranger, to: stranger })
      }
    }),
    fails: ['include/touching', 'include/reasons']
  },
  {
    does: 'attaches transfers to failed transactions',
    change: onHistories((records, options, address) => {
      if (!options?.include?.includes('internal')) return
      for (const record of records.filter(({ status }) => status === 4)) {
        record.internal = [{ kind: 'call', from: stranger, to: checksum(address), value: '0x1' }]
      }
    }),
    fails: ['include/forms']
  },
  {
    does: 'attaches nothing where an account is party by a transfer only',
    change: onHistories((records, options, address) => {
      if (options?.include?.length !== 3 || !is(address, alice)) return
      for (const record of records) if (record.hash === received) record.transfers = []
    }),
    fails: ['include/reasons']
  },
  {
    does: 'tells the receiver of tokens another amount',
    change: onHistories((records, options, address) => {
      if (options?.include?.length !== 1) return
      for (const { transfers = [] } of records) {
        for (const transfer of transfers)
          if (is(transfer.to, address.toLowerCase())) transfer.amount &&= `${transfer.amount}0`
      }
    }),
    fails: ['include/both-sides']
  }
]

const holdings = ({ alice }: Facts): readonly BrokenService[] => [
  {
    does: 'writes null for an image that it does not know',
    change: onHoldings(result => {
      for (const token of result.tokens) token.image ||= null
    }),
    fails: ['holdings/schema', 'holdings/no-null']
  },
  {
    does: 'counts tokens in numbers',
    change: onHoldings(result => {
      for (const token of result.tokens) token.amount = Number(token.amount)
    }),
    fails: ['holdings/schema', 'holdings/listed-empty', 'certificate/holdings']
  },
  {
    does: 'writes contracts in lower case',
    change: onHoldings(result => lowerAddresses(result)),
    fails: ['holdings/checksums']
  },
  {
    does: 'writes decimals with a fraction',
    change: onText('svc_getTokensAndNFTs', text => text.replace(/"decimals":(\d+)/g, '"decimals":$1.0')),
    fails: ['holdings/integers']
  },
  {
    does: 'lists a token twice',
    change: onHoldings(result => {
      result.tokens.push(...result.tokens.slice(0, 1))
    }),
    fails: ['holdings/balances']
  },
  {
    does: 'says that somebody owns an ERC-721 token three times',
    change: onHoldings(result => {
      for (const nft of result.nfts) if (!nft.isSemiFungible) nft.tokenBalance = '3'
    }),
    fails: ['holdings/balances']
  },
  {
    does: 'compares accounts letter by letter',
    change: onHoldings((result, _list, address) => {
      if (is(address, alice) && address === address.toLowerCase()) result.tokens = []
    }),
    fails: ['holdings/address-case']
  },
  {
    does: 'takes an empty list for no tokens',
    change: onHoldings((result, list) =>
      list?.length === 0 ? { ...result, tokens: [], nfts: [] } : undefined
    ),
    fails: ['holdings/empty-list']
  },
  {
    does: 'compares listed contracts letter by letter',
    change: onHoldings((result, list) => {
      if (list?.length > 1)
        result.tokens = result.tokens.filter(({ address }: Json) => list.includes(address))
    }),
    fails: ['holdings/list']
  },
  {
    does: 'lists a token once for each time it was asked for',
    change: onHoldings((result, list) => {
      if (list?.length > 1) result.tokens.push(...result.tokens.slice(0, 1))
    }),
    fails: ['holdings/list']
  },
  {
    does: 'leaves the native balance out of filtered answers',
    change: onHoldings((result, list) => (list?.length > 0 ? { ...result, native: '0' } : undefined)),
    fails: ['holdings/list']
  },
  {
    does: 'leaves listed tokens out that the account does not hold',
    change: onHoldings(result => {
      result.tokens = result.tokens.filter(({ amount }: Json) => amount !== '0')
    }),
    fails: ['holdings/listed-empty']
  }
]

const solana = (): readonly BrokenService[] => [
  {
    does: 'turns 64-bit integers into doubles',
    change: (answer, { target }) =>
      target === '/solana' && answer.text.includes('"lamports"')
        ? { ...answer, text: JSON.stringify(JSON.parse(answer.text)) }
        : answer,
    fails: ['solana/digits']
  },
  {
    does: 'writes null for a symbol that it does not know',
    change: onSolana(result => {
      for (const token of result.tokens) token.symbol ||= null
    }),
    fails: ['solana/schema', 'solana/no-null']
  },
  {
    does: 'lists a token account twice',
    change: onSolana(result => {
      result.tokens.push(...result.tokens.slice(0, 1))
    }),
    fails: ['solana/balances']
  },
  {
    does: 'names NFTs in its own way',
    change: onSolana(result => {
      for (const nft of result.nfts) nft.name = `${nft.name}!`
    }),
    fails: ['solana/metadata']
  },
  {
    does: 'gives nothing for an account object',
    change: onSolana((result, [account]) =>
      typeof account === 'object' && Object.keys(account).length === 1 ? { ...result, tokens: [] } : undefined
    ),
    fails: ['solana/forms', 'solana/more-forms']
  },
  {
    does: 'gives nothing where options are nested',
    change: onSolana((result, [, options]) => (options?.options ? { ...result, nfts: [] } : undefined)),
    fails: ['solana/more-forms']
  }
]

const certificates = ({ alice }: Facts): readonly BrokenService[] => {
  // Certificates of Solana wallets have the same name on the wire, and none of these parts.
  const onCertificates = (change: (certificate: Json) => unknown) =>
    onResults('svc_verifyHistory', certificate => (certificate.native ? change(certificate) : undefined))
  return [
    {
      does: 'adds a member to its status',
      change: onResults('svc_getSyncStatus', status => {
        status.peers = 7
      }),
      fails: ['sync/schema']
    },
    {
      does: 'counts a lag that its blocks do not have',
      change: onResults('svc_getSyncStatus', status => {
        if (status.lagBlocks !== undefined) status.lagBlocks += 5
      }),
      fails: ['sync/numbers']
    },
    {
      does: 'names blocks that its histories are beyond',
      change: onResults('svc_getSyncStatus', status => {
        if (status.indexedTo === undefined) return
        status.indexedTo -= 40
        status.lagBlocks += 40
      }),
      fails: ['sync/histories', 'sync/coverage']
    },
    {
      does: 'says that it is not ready, and answers histories',
      change: onResults('svc_getSyncStatus', status => {
        status.ready = false
      }),
      fails: ['sync/ready']
    },
    {
      does: 'hides that its node went back',
      change: onResults('svc_getSyncStatus', status => {
        if (status.indexedTo === undefined) return
        Object.assign(status, { head: status.indexedTo - 1, lagBlocks: 0, finalized: 0 })
      }),
      fails: ['sync/numbers']
    },
    {
      does: 'covers less than its status says',
      change: onHeaders(headers => {
        if (headers['x-chain-data-coverage']) headers['x-chain-data-coverage'] = '31337;from=3;to=4'
      }),
      fails: ['sync/coverage']
    },
    {
      does: 'adds a member to certificates',
      change: onCertificates(certificate => {
        certificate.signature = '0x'
      }),
      fails: ['certificate/schema']
    },
    {
      does: 'adds up wrongly',
      change: onCertificates(({ native }) => {
        native.parts.fees = String(BigInt(native.parts.fees) + 1n)
      }),
      fails: ['certificate/sums']
    },
    {
      does: 'calls proven what is not',
      change: onCertificates(certificate => {
        certificate.sent.verdict = 'unprovable'
      }),
      fails: ['certificate/verdict']
    },
    {
      does: 'calls unaltered what was not compared',
      change: onCertificates(certificate => {
        certificate.unaltered = { verdict: 'proven', blocks: 1, checksums: 0, roots: 0 }
      }),
      fails: ['certificate/unaltered']
    },
    {
      does: 'lacks a transaction, and says so',
      change: onCertificates(certificate => {
        if (!is(certificate.address, alice)) return
        certificate.verdict = 'failed'
        certificate.complete = 'failed'
        certificate.sent.verdict = 'failed'
        certificate.findings.push({
          kind: 'MISSING_NONCE',
          message: 'Nonce 3 was used by nothing known.',
          nonce: '3'
        })
      }),
      fails: ['certificate/complete']
    },
    {
      does: 'counts transactions that its history has not',
      change: onCertificates(({ index }) => {
        index.transactions += 1
      }),
      fails: ['certificate/history']
    },
    {
      does: 'certifies another balance than it shows',
      change: onCertificates(({ native }) => {
        const more = (amount: string) => String(BigInt(amount) + 1n)
        native.balance = more(native.balance)
        native.computed = more(native.computed)
        native.parts.received = more(native.parts.received)
      }),
      fails: ['certificate/holdings']
    }
  ]
}

/** Every broken service, by what is wrong with it. */
export const brokenServices: Readonly<Record<string, (facts: Facts) => readonly BrokenService[]>> = {
  'HTTP, envelopes and batches': transportAndIds,
  histories,
  holdings,
  'holdings on Solana': solana,
  'status and certificates': certificates
}
