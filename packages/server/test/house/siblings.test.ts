import { describe, expect, it } from 'vitest'
import { type PackageName, readSources } from './readSources.ts'

interface Siblings {
  readonly package: PackageName
  /** Two folders that do the same for two families. Their files have the same names. */
  readonly folders: readonly [string, string]
  /** Files that only one folder needs, and why. */
  readonly alone: readonly { readonly why: string; readonly files: readonly string[] }[]
  /** How many files are alone without a reason. Being worked off: the number only gets smaller. */
  readonly unexplained: number
}

const siblings: readonly Siblings[] = [
  {
    package: 'index',
    folders: ['sqlite', 'postgres'],
    alone: [
      {
        why: 'SQLite finds chunks by a table of their bounds, PostgreSQL by their primary key',
        files: ['sqlite/chunks.ts']
      },
      {
        why: 'SQLite reads over a file of its own, PostgreSQL over a view of one of several servers',
        files: ['sqlite/read.ts', 'postgres/PostgresSnapshot.ts']
      },
      {
        why: 'SQLite has two drivers, and files',
        files: ['loadDriver', 'open', 'openFiles'].map(name => `sqlite/${name}.ts`)
      },
      {
        why: 'Citus puts the schemas of PostgreSQL on other machines',
        files: ['postgres/citus.ts']
      },
      {
        why: 'PostgreSQL is reached over connections that are shared, fail and fall silent, on several servers',
        files: ['postgres/servers.ts', 'postgres/connection.ts', 'postgres/session.ts', 'postgres/view.ts']
      },
      {
        why: 'A transaction of PostgreSQL is sent as one script, with its rows',
        files: ['postgres/copyRows.ts', 'postgres/literals.ts']
      },
      { why: 'Chains are schemas of PostgreSQL, and files of SQLite', files: ['postgres/schema.ts'] },
      { why: 'Only a database server has settings to check', files: ['postgres/serverFacts.ts'] }
    ],
    unexplained: 0
  },
  {
    package: 'server',
    folders: ['nodes/evm', 'nodes/solana'],
    alone: [
      { why: 'Blocks are followed on EVM chains only', files: ['nodes/evm/webSocketHeads.ts'] },
      {
        why: 'Calls of EVM chains are put in batches, name a block, and a chain is shown by two answers',
        files: ['nodes/evm/nodeCall.ts', 'nodes/evm/JsonRpcLink.ts', 'nodes/evm/identity.ts']
      },
      {
        why: 'Answers of EVM nodes are read field by field, long lists of Solana accounts in portions',
        files: ['nodes/evm/rawFields.ts', 'nodes/solana/jsonExtents.ts', 'nodes/solana/readAnswers.ts']
      },
      {
        why: 'The pool of an EVM chain expects a chain id; before one is known, a node is asked for it alone',
        files: ['nodes/evm/readChainId.ts']
      },
      { why: 'Solana writes addresses in base58', files: ['nodes/solana/solanaAddress.ts'] },
      { why: 'Three chain ids name public clusters of Solana', files: ['nodes/solana/clusters.ts'] }
    ],
    unexplained: 0
  },
  {
    package: 'server',
    folders: ['evm/holdings', 'solana/holdings'],
    alone: [
      {
        why: 'EVM contracts are programs of anyone: each is asked in its own way, and may mislead',
        files: [
          ...['askRefusedAgain', 'contractFacts', 'heldAssets', 'readContracts', 'tokenStandards'],
          ...['expandRanges', 'RangeWalk']
        ].map(name => `evm/holdings/${name}.ts`)
      },
      {
        why: 'Solana keeps all tokens in accounts of few programs, which are read as bytes of one slot',
        files: ['deriveProgramAddress', 'metadataAddresses', 'readAssets', 'readOwned'].map(
          name => `solana/holdings/${name}.ts`
        )
      },
      {
        why: 'Mints say by supply, decimals and metadata what they are; contracts are asked for their standard',
        files: ['solana/holdings/classifyAsset.ts']
      },
      {
        why: 'Accounts have primary names in ENS, which has no registry on Solana',
        files: ['ensName', 'readAccountName'].map(name => `evm/holdings/${name}.ts`)
      },
      {
        why: 'Names are judged on EVM chains only, where anyone may log a transfer to anyone',
        files: ['createSpamJudge', 'nameSigns'].map(name => `evm/holdings/spam/${name}.ts`)
      }
    ],
    unexplained: 0
  }
]

describe.each(siblings)('$folders', ({ package: name, folders: [one, other], alone, unexplained }) => {
  const sources = readSources(name)
  const filesIn = (folder: string) => sources.filter(({ path }) => path.startsWith(`${folder}/`))
  const explained = alone.flatMap(({ files }) => files)
  const found = [...without(one, other), ...without(other, one)]

  it('have files of the same names, except for a reason', () => {
    const unlike = found.filter(path => !explained.includes(path))
    expect(unlike.length, unlike.join('\n')).toBeLessThanOrEqual(unexplained)
  })

  it('need every reason that is given', () => {
    expect(explained.filter(path => !found.includes(path))).toEqual([])
  })

  it('do not import each other', () => {
    expect([...importsOf(one, other), ...importsOf(other, one)]).toEqual([])
  })

  /** Returns the files of a folder that have no namesake in the other. */
  function without(folder: string, other: string): string[] {
    const files = filesIn(folder).map(({ path }) => path)
    const namesakes = filesIn(other).map(({ path }) => path.replace(other, folder))
    if (files.length === 0 || namesakes.length === 0) throw new Error(`${folder} or ${other} has no files`)
    return files.filter(path => !namesakes.includes(path))
  }

  function importsOf(folder: string, other: string): string[] {
    return filesIn(folder).flatMap(({ path, imports }) =>
      imports.filter(target => target.startsWith(`${other}/`)).map(target => `${path} -> ${target}`)
    )
  }
})
