import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { settings } from '../config.ts'
import { Icon } from '../shared/Icon.tsx'
import { type AccountRoute, accountHref } from '../shared/route.ts'
import { parseAddress } from './parseAddress.ts'
import { recentAccounts } from './recentAccounts.ts'

/** Asks for an address and a chain. `/` puts the cursor into it from everywhere, Esc takes it away again. */
export function AddressSearch({ route }: { route: AccountRoute | undefined }) {
  const [typed, setTyped] = useState('')
  const [chainId, setChainId] = useState(route?.chainId ?? settings.chains[0]?.id ?? 1)
  const [asked, setAsked] = useState<string>()
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  useSlashKey(input)

  useEffect(() => {
    if (route === undefined) return
    setChainId(route.chainId)
    setTyped('')
    setAsked(undefined)
  }, [route])

  const parsed = parseAddress(typed)
  // What is still being typed is not complained of.
  const problem = asked === typed ? (parsed.problem ?? unoffered(parsed.family)) : undefined
  const insist = 'insist' in parsed ? parsed.insist : undefined

  const clear = () => {
    setTyped('')
    setAsked(undefined)
    input.current?.blur()
  }
  const type = (text: string) => {
    setTyped(text)
    const next = parseAddress(text)
    if (next.problem === undefined) setChainId(chainOf(next.family, chainId))
  }
  const open = (account: { family: 'evm' | 'solana'; address: string }) => {
    location.hash = accountHref({ chainId: chainOf(account.family, chainId), address: account.address })
    // That may be the one which is shown already.
    clear()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setAsked(typed)
    if (parsed.problem === undefined && unoffered(parsed.family) === undefined) open(parsed)
    else input.current?.focus()
  }
  const chooseChain = (next: number) => {
    setChainId(next)
    // An account that is shown is shown on the other chain, where it can be the same one.
    if (typed === '' && route !== undefined && familyOf(next) === familyOf(route.chainId)) {
      location.hash = accountHref({ chainId: next, address: route.address })
    }
  }

  return (
    <search>
      <form className="search" onSubmit={submit} noValidate>
        {settings.chains.length > 1 && (
          <ChainChoice id={`${id}chain`} chosen={chainId} onChoose={chooseChain} />
        )}
        <label className="unseen" htmlFor={`${id}address`}>
          Address
        </label>
        <input
          ref={input}
          id={`${id}address`}
          value={typed}
          placeholder="Address: 0x… or base58"
          aria-keyshortcuts="/"
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}problem`}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          list={`${id}recent`}
          onChange={event => type(event.target.value)}
          onKeyDown={event => {
            if (event.key !== 'Escape') return
            clear()
          }}
        />
        <datalist id={`${id}recent`}>
          {recentAccounts().map(({ chainId: each, address }) => (
            <option key={`${each} ${address}`} value={address} />
          ))}
        </datalist>
        <span className="key" aria-hidden="true">
          /
        </span>
        <button type="submit" className="iconButton" aria-label="Show account" title="Show account">
          <Icon name="search" />
        </button>
      </form>
      <div id={`${id}problem`} role="alert">
        {problem !== undefined && (
          <p className="problem">
            <Icon name="warning" />
            <span>
              {problem}{' '}
              {insist !== undefined && (
                <button type="button" className="linkButton" onClick={() => open(insist)}>
                  Show it all the same
                </button>
              )}
            </span>
          </p>
        )}
      </div>
    </search>
  )
}

function ChainChoice(props: { id: string; chosen: number; onChoose: (chainId: number) => void }) {
  const { id, chosen, onChoose } = props
  return (
    <>
      <label className="unseen" htmlFor={id}>
        Chain
      </label>
      <select id={id} value={chosen} onChange={event => onChoose(Number(event.target.value))}>
        {settings.chains.map(chain => (
          <option key={chain.id} value={chain.id}>
            {chain.name}
          </option>
        ))}
        {!settings.chains.some(chain => chain.id === chosen) && (
          <option value={chosen}>Chain {chosen}</option>
        )}
      </select>
    </>
  )
}

/** What is wrong with an address of a family that this page has no chain of. */
function unoffered(family: 'evm' | 'solana'): string | undefined {
  if (settings.chains.some(chain => chain.family === family)) return undefined
  return `This is an address of ${family === 'evm' ? 'an EVM chain' : 'Solana'}, and this page offers no such chain.`
}

/** The chosen chain where it is of that family, else the first that is. */
function chainOf(family: 'evm' | 'solana', chosen: number): number {
  if (familyOf(chosen) === family) return chosen
  return settings.chains.find(chain => chain.family === family)?.id ?? chosen
}

function familyOf(chainId: number): 'evm' | 'solana' {
  return settings.chains.find(({ id }) => id === chainId)?.family ?? 'evm'
}

function useSlashKey(input: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target as HTMLElement
      const writes = target.matches('input, textarea, select') || target.isContentEditable
      if (writes || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [input])
}
