import { styleText } from 'node:util'
import { nameNodes } from '../../platform/nameNodes.ts'
import { type ChainWords, oneLine } from './terminal.ts'

const warnLevel = 40
const errorLevel = 50
/** Members of a line that are said elsewhere in it, or not to a person. */
const unsaid = new Set([
  'level',
  'time',
  'msg',
  'component',
  'chainId',
  'name',
  'problem',
  'error',
  'suggestedWaivers'
])

/**
 * Makes a function that words a line of the log for a person at a terminal.
 *
 * @param options.chains - by their ids.
 * @param options.isColored - warnings and errors stand out.
 * @returns text that ends in a line break, as the lines do.
 */
export function createLineFormatter(options: {
  readonly chains: ReadonlyMap<number, ChainWords>
  readonly isColored: boolean
}): (line: string) => string {
  const { chains, isColored } = options
  const paint = (level: number, text: string) => {
    if (!isColored || level < warnLevel) return text
    return styleText(level < errorLevel ? 'yellow' : 'red', text, { validateStream: false })
  }
  return line => {
    const fields = JSON.parse(line) as Readonly<Record<string, unknown>>
    const level = Number(fields.level)
    const time = new Date(String(fields.time)).toLocaleTimeString('en-GB')
    const chain = chains.get(Number(fields.chainId))
    const name = fields.chainId === undefined ? '' : `${chain?.name ?? `chain ${fields.chainId}`}: `
    const mark = level < warnLevel ? '' : level < errorLevel ? 'warning: ' : 'error: '
    return `${time} ${paint(level, oneLine(`${mark}${name}${nameNodes(sentence(fields), chain?.hosts)}`))}\n${moreLines(fields, level)}`
  }
}

function sentence(fields: Readonly<Record<string, unknown>>): string {
  const { msg, problem, error, url } = fields
  if (msg === 'listening') return `listening on ${url}`
  if (msg === 'operator pages') return `status page ${url}/, metrics ${url}/metrics`
  const causes = [problem, messageOf(error)].filter(cause => cause !== undefined).map(withoutChain)
  const figures = Object.entries(fields)
    .filter(([name]) => !unsaid.has(name))
    .map(([name, value]) => `${words(name)} ${value}`)
  return [msg, ...causes].join(': ') + (figures.length === 0 ? '' : ` (${figures.join(', ')})`)
}

/** The line has named the chain by then. */
function withoutChain(cause: unknown): string {
  return String(cause).replace(/^chain \d+: (identity: )?/, '')
}

function messageOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
}

/** `indexedTo` is `indexed to`. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
}

/** What is to be copied, and the stack of a bug, stand below the sentence. */
function moreLines({ error, suggestedWaivers }: Readonly<Record<string, unknown>>, level: number): string {
  const waivers = suggestedWaivers === undefined ? '' : `  "waivers": ${JSON.stringify(suggestedWaivers)}\n`
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : ''
  const trace = level < errorLevel ? [] : stack.split('\n').filter(line => /^\s+at /.test(line))
  return waivers + trace.map(line => `${oneLine(line)}\n`).join('')
}
