import { useEffect, useState } from 'react'

/** The shape of what is being asked for, with words once it takes long. */
export function Skeleton({ rows = 0, squares = 0 }: { rows?: number; squares?: number }) {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 2000)
    return () => clearTimeout(timer)
  }, [])
  const shapes = (count: number) => Array.from({ length: count }, (_, at) => at)
  return (
    <>
      <div className={squares > 0 ? 'gallery' : undefined} aria-hidden="true">
        {shapes(rows).map(at => (
          <div key={at} className="skeleton row" />
        ))}
        {shapes(squares).map(at => (
          <div key={at} className="skeleton square" />
        ))}
      </div>
      <p className="quiet tiny asking" role="status">
        {slow ? 'Asking the service …' : ''}
      </p>
    </>
  )
}
