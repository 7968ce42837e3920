import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { estimateKeyBits } from './estimateKeyBits.ts'

describe('the randomness of a key', () => {
  it.each([
    ['a name', 'demo-server-key'],
    ['one character', 'a'.repeat(200)],
    ['a pattern', 'abc123'.repeat(20)],
    ['a word again and again', 'Password!'.repeat(12)],
    ['the alphabet and the digits', 'abcdefghijklmnopqrstuvwxyz0123456789'],
    ['the rows of a keyboard', 'qwertyuiopasdfghjklzxcvbnm1234567890'],
    ['the same backwards', 'mnbvcxzlkjhgfdsapoiuytrewq9876543210'],
    ['a sentence', 'this is a very long sentence that nobody will guess'],
    ['words with hyphens', 'correct-horse-battery-staple-and-some-more-of-it'],
    ['words of another language', 'einganzlangersatzdenniemandratenwird'],
    ['words that begin with capitals', 'ThisIsTheVeryLongPassphraseOfMine'],
    ['words with a number', 'my secret key for the production server 2026'],
    ['64 random bits', 'f3a9c1d27b604e85'],
    ['120 random bits', '9f3c1d27b604e85a0c6e3b19d274f8'],
    ['a UUID', '3b241101-e2bb-4255-8caf-4136c566a962'],
    ['digits', '31415926535897932384626433832795028841'],
    ['nothing', '']
  ])('is below 128 bits for %s', (_what, key) => {
    expect(estimateKeyBits(key)).toBeLessThan(128)
  })

  it('is at least 128 bits for 128 random bits in any usual form', () => {
    const forms = [
      (bytes: Buffer) => bytes.toString('hex'),
      (bytes: Buffer) => bytes.toString('hex').toUpperCase(),
      (bytes: Buffer) => bytes.toString('base64'),
      (bytes: Buffer) => bytes.toString('base64url')
    ]
    // As good as random, and the same in every run.
    for (let time = 0; time < 1_000; time++) {
      const bytes = createHash('sha256').update(String(time)).digest()
      for (const form of forms) {
        const key = form(bytes.subarray(0, 16))
        expect(estimateKeyBits(key), key).toBeGreaterThanOrEqual(128)
      }
      // As `chain-data project create` makes them.
      expect(estimateKeyBits(bytes.toString('base64url'))).toBeGreaterThan(200)
    }
  })
})
