/** What is sent, as it leaves; the authorization among its headers. */
export interface SentRequest {
  /** HTTP method. */
  readonly verb: string
  /** Path and query below the base URL. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Absent: no body. */
  readonly body?: string
}

/** What came back, whole. */
export interface ReceivedAnswer {
  /** HTTP status. */
  readonly status: number
  /** Names in lower case; lines of one name joined with `, `. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, every digit of it. */
  readonly text: string
}

/** One request and its answer: the evidence of every verdict. */
export interface Exchange {
  /** What was asked. */
  readonly sent: SentRequest
  /** What was answered. */
  readonly received: ReceivedAnswer
}
