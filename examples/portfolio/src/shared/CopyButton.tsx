import { useEffect, useState } from 'react'
import { Icon } from './Icon.tsx'

/** Copies a text, and says that it did. @param label - What is copied, as in "Copy address". */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 2000)
    return () => clearTimeout(timer)
  }, [state])

  const copy = () => {
    // Pages without a secure context have no clipboard.
    const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    done.then(
      () => setState('done'),
      () => setState('failed')
    )
  }
  const title = { idle: `Copy ${label}`, done: 'Copied', failed: 'Copying is not allowed here' }[state]
  return (
    <button type="button" className="copy" onClick={copy} title={title} aria-label={`Copy ${label}`}>
      <Icon name={state === 'done' ? 'check' : state === 'failed' ? 'cross' : 'copy'} />
      <span className="unseen" role="status">
        {state === 'idle' ? '' : title}
      </span>
    </button>
  )
}
