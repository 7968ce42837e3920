import type { ReactNode } from 'react'
import { Icon, type IconName } from './Icon.tsx'

/**
 * How far something can be believed. `loading`: asked, not answered. `empty`: answered, and there is nothing. `partial`:
 * some of it could not be read. `stale`: it was right once. `failed`: nothing could be read.
 */
type NoticeState = 'loading' | 'empty' | 'partial' | 'stale' | 'failed'

const icons: Record<NoticeState, IconName> = {
  loading: 'clock',
  empty: 'empty',
  partial: 'info',
  stale: 'clock',
  failed: 'warning'
}

/** What a {@link Notice} says. */
export interface NoticeProps {
  state: NoticeState
  /** What is so, in one line. */
  title: string
  /** What it means and what can be done. */
  children?: ReactNode
  /** One thing to do about it. */
  action?: { label: string; onPress: () => void }
}

/** Says how something stands, with an icon and words. Screen readers are told when it changes. */
export function Notice({ state, title, children, action }: NoticeProps) {
  return (
    <div className={`notice ${state}`} role={state === 'failed' ? 'alert' : 'status'}>
      <Icon name={icons[state]} />
      <div>
        <p className="noticeTitle">{title}</p>
        {children !== undefined && <div className="noticeText">{children}</div>}
        {action !== undefined && (
          <button type="button" className="button" onClick={action.onPress}>
            {action.label}
          </button>
        )}
      </div>
    </div>
  )
}
