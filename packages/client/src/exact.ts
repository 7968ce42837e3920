/** Results with the exact digits of members that a number cannot always hold, in those of a list or in the object itself. */
export type ExactDigits<T, Name extends string> = T extends readonly (infer Item)[]
  ? (Item & Digits<Name>)[]
  : T & Digits<Name>

type Digits<Name extends string> = { readonly [N in Name as `${N}String`]?: string }

/** A result with a `bigint` in place of the decimal digits of these members. */
export type ExactAmounts<T, Name extends string> = T extends readonly (infer Item)[]
  ? ExactAmounts<Item, Name>[]
  : T extends object
    ? {
        [Key in keyof T]: Key extends Name
          ? T[Key] extends string | undefined
            ? bigint
            : ExactAmounts<T[Key], Name>
          : ExactAmounts<T[Key], Name>
      }
    : T
