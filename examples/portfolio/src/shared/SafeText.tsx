import { cutText } from './cutText.ts'

/**
 * Text of strangers as one text node: cut at `limit` characters with more of it in the title, and isolated, so that it
 * cannot turn what stands beside it.
 */
export function SafeText({
  text,
  limit = 60,
  className
}: {
  text: string
  limit?: number
  className?: string
}) {
  const shown = cutText(text, limit)
  const full = cutText(text, 500)
  return (
    <bdi className={className} title={full === shown ? undefined : full}>
      {shown}
    </bdi>
  )
}
