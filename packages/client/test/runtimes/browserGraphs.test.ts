import { isBuiltin } from 'node:module'
import { describe, expect, test } from 'vitest'
import { bundle, sourceConditions } from './bundle.ts'

const entries = [
  '@chain-data/client',
  '@chain-data/client/fetch',
  '@chain-data/client/actions',
  '@chain-data/client/viem',
  '@chain-data/client/kit',
  '@chain-data/client/query',
  '@chain-data/client/history',
  '@chain-data/client/route'
]

const targets = [
  { name: 'a browser', conditions: ['browser'], mainFields: ['browser', 'module', 'main'] },
  {
    name: 'workers',
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['browser', 'module', 'main']
  },
  { name: 'React Native', conditions: ['react-native'], mainFields: ['react-native', 'browser', 'main'] }
]

/** Everything a bundle of this entry imports, by the path it was found at. */
async function graphOf(entry: string, { conditions, mainFields }: (typeof targets)[number]) {
  const { metafile, warnings } = await bundle({
    program: `export * from '${entry}'`,
    format: 'esm',
    conditions: [...sourceConditions, ...conditions],
    mainFields
  })
  const imports = Object.values(metafile.inputs).flatMap(input => input.imports)
  return { files: Object.keys(metafile.inputs), imports, warnings }
}

describe.each(targets)('for $name', target => {
  test.each(entries)('%s imports no module of Node', async entry => {
    const { imports, warnings } = await graphOf(entry, target)
    expect(imports.filter(each => each.external || isBuiltin(each.path))).toEqual([])
    expect(warnings).toEqual([])
  })

  test('the msw entry imports msw and no module of Node', async () => {
    const { metafile } = await bundle({
      program: `export * from '@chain-data/client/msw'`,
      format: 'esm',
      conditions: [...sourceConditions, ...target.conditions],
      external: ['msw']
    })
    const outside = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(each => each.external)
    )
    expect(new Set(outside.map(each => each.path))).toEqual(new Set(['msw']))
  })
})

test('every entry but the main one brings no package along but the protocol', async () => {
  for (const entry of entries.slice(1)) {
    const { files } = await graphOf(entry, targets[0]!)
    const foreign = files.filter(file => !/(^<|packages\/(client|protocol)\/src\/)/.test(file))
    expect(foreign, entry).toEqual([])
  }
})

test('./msw knows the protocol and never the client, ./query only its types', async () => {
  for (const [entry, own] of [
    ['@chain-data/client/msw', /\/src\/msw\//],
    ['@chain-data/client/query', /\/src\/(query\/|generated\/queries\.gen\.ts$)/]
  ] as const) {
    const { metafile } = await bundle({
      program: `export * from '${entry}'`,
      format: 'esm',
      conditions: sourceConditions,
      external: ['msw']
    })
    const files = Object.keys(metafile.inputs).filter(file => file.includes('packages/client/src/'))
    expect(files.length).toBeGreaterThan(2)
    expect(files.filter(file => !own.test(file))).toEqual([])
  }
})

test('a module of Node in a graph is found', async () => {
  const program = `import { readFileSync } from 'node:fs'; export { readFileSync }`
  await expect(bundle({ program, format: 'esm', conditions: [] })).rejects.toThrow(/node:fs/)
})

test.each(entries)('nothing is left of %s when nothing of it is used', async entry => {
  const { outputFiles } = await bundle({
    program: `import '${entry}'`,
    format: 'esm',
    conditions: [...sourceConditions, 'browser']
  })
  const code = outputFiles[0]!.text.replace(/^\s*\/\/.*$/gm, '').trim()
  expect(code).toBe('')
})
