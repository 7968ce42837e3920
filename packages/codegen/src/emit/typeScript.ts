/** A TypeScript literal of a JSON value, single-quoted, keys quoted only where they must be. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map(item => literal(item)).join(', ')}]`
    const plain = value.every(item => typeof item !== 'object' || item === null)
    if (plain && line.length < 90) return line
    return `[\n${value.map(item => `${inner}${literal(item, inner)}`).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return '{}'
  const lines = entries.map(([key, item]) => `${inner}${propertyKey(key)}: ${literal(item, inner)}`)
  return `{\n${lines.join(',\n')}\n${indent}}`
}

/** A single-quoted string literal. */
export function quote(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped}'`
}

/** A property name as it is written in an object type or literal. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)
}

/** A docstring, wrapped at 100 columns. */
export function docstring(text: string, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.replaceAll('*/', '*\\/').split(/\s+/)) {
    if (line.length + word.length + 1 > 96 - indent.length && line !== '') {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  lines.push(line)
  if (lines.length === 1) return `${indent}/** ${lines[0]} */`
  return [`${indent}/**`, ...lines.map(each => `${indent} * ${each}`), `${indent} */`].join('\n')
}
