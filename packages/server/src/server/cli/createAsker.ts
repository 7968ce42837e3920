import { createInterface } from 'node:readline/promises'

/** Asks a person at the terminal; where nobody is there, everything has its default. */
export interface Asker {
  readonly isInteractive: boolean
  /** @returns `undefined` where nobody can be asked. */
  question(text: string): Promise<string | undefined>
  confirm(text: string, fallback: boolean): Promise<boolean>
}

/** @param isAllowed - false: nobody is asked, also not at a terminal. */
export function createAsker(isAllowed: boolean): Asker {
  const isInteractive = isAllowed && process.stdin.isTTY === true && process.stdout.isTTY === true
  async function question(text: string): Promise<string | undefined> {
    if (!isInteractive) return undefined
    const lines = createInterface({ input: process.stdin, output: process.stdout })
    try {
      return (await lines.question(`${text} `)).trim()
    } finally {
      lines.close()
    }
  }
  return {
    isInteractive,
    question,
    async confirm(text, fallback) {
      const answer = await question(`${text} [${fallback ? 'Y/n' : 'y/N'}]`)
      return answer === undefined || answer === '' ? fallback : /^y/i.test(answer)
    }
  }
}
