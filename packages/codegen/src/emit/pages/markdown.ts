/** A table; line breaks and pipes inside cells are made safe. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('\n', ' ').replaceAll('|', '\\|')
}

/** Inline code. */
export function code(text: string): string {
  return `\`${text}\``
}

/** Text that opens on demand. */
export function folded(title: string, text: string): string {
  return `<details><summary>${title}</summary>\n\n${text}\n\n</details>`
}

/** A block of JSON: small objects and lists stay on one line. */
export function json(value: unknown): string {
  return `\`\`\`json\n${format(value, '')}\n\`\`\``
}

function format(value: unknown, indent: string): string {
  const line = oneLine(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= 100) return line
  const inner = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map(item => `${inner}${format(item, inner)}`)
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${format(item, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}

function oneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
