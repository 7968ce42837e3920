import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Icon } from './Icon.tsx'
import { SafeText } from './SafeText.tsx'

/**
 * Something looked at for itself, over the page. Keeps the focus and gives it back; Esc and a press beside it close it.
 *
 * @param title - May be written by a stranger; cut at `titleLimit` letters.
 */
export function Dialog({
  title,
  titleLimit,
  className = '',
  onClose,
  children
}: {
  title: string
  titleLimit: number
  className?: string
  onClose: () => void
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    // As a modal it keeps the focus, gives it back, and closes on Esc by itself.
    dialog.current?.showModal()
  }, [])
  const close = () => dialog.current?.close()
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a press beside it closes it, as Esc does.
    <dialog
      ref={dialog}
      className={`dialog ${className}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={event => {
        if (event.target === dialog.current) close()
      }}
    >
      <div className="dialogBody">
        <header>
          <h2 id={titleId}>
            <SafeText text={title} limit={titleLimit} />
          </h2>
          <button type="button" className="iconButton" onClick={close} aria-label="Close" title="Close (Esc)">
            <Icon name="cross" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
