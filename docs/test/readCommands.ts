/** One command of a block of shell: what it is given, and with which variables. */
export interface ShellCommand {
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Line it begins on; the first line of the code is 1. */
  readonly line: number
}

/**
 * Reads as much of the language of the shell as pages use: words, quotes, comments, continued lines, variables before a
 * command, and commands joined by `&&`, `||`, `|`, `;` and `&`. Nothing is expanded.
 *
 * @throws A quote is not closed.
 */
export function readCommands(code: string): ShellCommand[] {
  const commands: ShellCommand[] = []
  let words: string[] = []
  let line = 1
  let begun = 1
  const end = () => {
    const first = words.findIndex(word => !/^[A-Za-z_]\w*=/.test(word))
    const variables = first < 0 ? words : words.slice(0, first)
    const environment = Object.fromEntries(variables.map(word => splitOnce(word, '=')))
    if (words.length > 0) commands.push({ words: words.slice(variables.length), environment, line: begun })
    words = []
  }
  const token = /\\\n|\n|[ \t]+|#.*|&&|\|\||[|;&]|(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[^\n]|[^\s'"\\|;&])+/y
  while (token.lastIndex < code.length) {
    const at = token.lastIndex
    const [text] = token.exec(code) ?? []
    if (text === undefined)
      throw new Error(`cannot be read from ${JSON.stringify(code.slice(at, at + 20))} on`)
    if (/^(\n|&&|\|\||[|;&])$/.test(text)) end()
    else if (!/^(\\\n|\s|#)/.test(text)) {
      if (words.length === 0) begun = line
      words.push(unquote(text))
    }
    line += text.split('\n').length - 1
  }
  end()
  return commands
}

function unquote(text: string): string {
  return text.replace(/'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([^\n])/g, (_, single, double, escaped) => {
    return single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped
  })
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator)
  return [text.slice(0, index), text.slice(index + separator.length)]
}
