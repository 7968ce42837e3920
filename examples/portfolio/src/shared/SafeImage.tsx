import { useState } from 'react'
import { settings } from '../config.ts'
import { initials } from './initials.ts'
import { safeImageUrl } from './safeImageUrl.ts'

/** What a {@link SafeImage} shows. */
export interface SafeImageProps {
  /** As the service gives it; `""` for none. */
  image: string
  /** Whose picture it is: its initials stand where there is none. */
  name: string
  /** `logo`: a small round one. `square`: as wide as its place. */
  shape: 'logo' | 'square'
}

/**
 * A stranger's picture in a box that never moves: asked for when it comes near the screen, without telling where the
 * reader is, and replaced by initials where there is none, it may not be shown, or it does not load.
 *
 * @remarks Decoration beside a name, so it has no text of its own.
 */
export function SafeImage({ image, name, shape }: SafeImageProps) {
  const url = safeImageUrl(image, settings.imageOrigins)
  const [failed, setFailed] = useState<string>()
  return (
    <span className={`picture ${shape}`} aria-hidden="true">
      {url === undefined || failed === url ? (
        <span className="initials">{initials(name)}</span>
      ) : (
        <img
          src={url}
          alt=""
          loading="lazy"
          decoding="async"
          referrerPolicy="no-referrer"
          onError={() => setFailed(url)}
        />
      )}
    </span>
  )
}
