import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readMetadata } from './readMetadata.ts'

test('texts, attributes and links of a metadata object are taken as text', () => {
  const read = readMetadata({
    description: 'A picture.',
    external_url: 'https://names.art/1',
    animation_url: 'javascript:alert(1)',
    attributes: [{ trait_type: 'Colour', value: 'orange' }, { trait_type: 'Age', value: 9 }, { value: true }]
  })
  expect(read).toEqual({
    description: 'A picture.',
    attributes: [
      ['Colour', 'orange'],
      ['Age', '9'],
      ['Property', 'true']
    ],
    links: [
      ['Website', 'https://names.art/1'],
      ['Animation', 'javascript:alert(1)']
    ]
  })
})

test('a long list of attributes is cut, and says so', () => {
  const attributes = Array.from({ length: 1000 }, (_, at) => ({ trait_type: 'n', value: at }))
  const read = readMetadata({ attributes }).attributes
  expect(read).toHaveLength(51)
  expect(read.at(-1)).toEqual(['More', '950 that are not shown'])
})

test('whatever JSON a stranger writes, only texts come out', () => {
  const anything = fc.jsonValue()
  const metadata = fc.record(
    { description: anything, external_url: anything, animation_url: anything, attributes: anything },
    { requiredKeys: [] }
  )
  fc.assert(
    fc.property(metadata, data => {
      const { description, attributes, links } = readMetadata(data as Record<string, unknown>)
      for (const text of [description, ...attributes.flat(), ...links.flat()])
        expect(text).toBeTypeOf('string')
    })
  )
})
