import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, errors } from 'undici';
import { type Answer, type Exchange, exchange, Unfinished } from './exchange.js';
import { AddressRefused } from './http-client.js';
import { signatureOf } from './signature.js';

/** Of a response's headers: how many are kept, and how much of each. */
const KEPT_HEADERS = 50;
const KEPT_HEADER_CHARACTERS = 1_000;

/** The error of an attempt that this side gave up. */
export const BROKEN_OFF = 'broken_off';

export interface Message {
  readonly id: string;
  readonly body: string;
  readonly target: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
    readonly ed25519?: string | undefined;
  };
}

/** What came of one attempt. */
export interface AttemptResult {
  readonly at: Date;
  readonly durationMs: number;
  /** Null when no response came. */
  readonly status: number | null;
  /** Null at a 2xx. */
  readonly error: string | null;
  readonly response: { readonly headers: Record<string, string>; readonly body: string } | null;
  /** As the receiver said in `Retry-After` (RFC 9110, section 10.2.3). */
  readonly retryAfterMs?: number | undefined;
}

/** Sends one message, once: it follows no redirect, inflates nothing, and is over at its deadline whatever the receiver does. */
export class Sender {
  readonly #underWay = new Set<Exchange>();

  constructor(
    private readonly agent: Agent,
    private readonly options: { readonly timeoutMs: number; readonly userAgent: string },
  ) {}

  /** Never rejects: whatever goes wrong is the result. */
  async send(message: Message): Promise<AttemptResult> {
    const at = new Date();
    const startedAt = performance.now();
    const { timeoutMs } = this.options;
    const { origin, pathname, search } = new URL(message.target.url);
    const result = (error: string | null, answer: Answer | null): AttemptResult => ({
      at,
      durationMs: Math.round(performance.now() - startedAt),
      status: answer?.status ?? null,
      error,
      response: answer && { headers: keptHeaders(answer.headers), body: textOf(answer.beginning) },
      retryAfterMs: retryAfterOf(answer?.headers['retry-after'], at),
    });
    const request = {
      origin,
      path: pathname + search,
      method: 'POST',
      headers: this.#headersOf(message, at),
      body: message.body,
    } as const;
    try {
      const answer = await exchange(this.agent, request, { timeoutMs, underWay: this.#underWay });
      return result(answer.status < 300 ? null : `http_${answer.status}`, answer);
    } catch (error) {
      return result(classOf(error), error instanceof Unfinished ? error.answer : null);
    }
  }

  /** Gives up what is under way. */
  breakOff(): void {
    for (const one of this.#underWay) one.breakOff();
  }

  async stop(): Promise<void> {
    this.breakOff();
    await this.agent.destroy();
  }

  #headersOf({ id, body, target }: Message, at: Date): Record<string, string> {
    const timestamp = Math.floor(at.getTime() / 1_000);
    return {
      ...target.headers,
      'content-type': 'application/json',
      'user-agent': this.options.userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf({ id, timestamp, body }, target),
    };
  }
}

/** What PostgreSQL takes as a text. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\ufffd');
}

function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).slice(0, KEPT_HEADERS);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, [value].flat().join(', ').slice(0, KEPT_HEADER_CHARACTERS)]),
  );
}

function retryAfterOf(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

const CLASSES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_NODATA: 'dns',
  ENODATA: 'dns',
  ETIMEOUT: 'dns',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'bad_response',
  UND_ERR_DESTROYED: BROKEN_OFF,
};
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|ERR_OSSL)/;

/** One word for what kept a response from coming. */
function classOf(error: unknown): string {
  if (error instanceof Unfinished) {
    if (error.reason === 'deadline') return 'timeout';
    return error.reason === 'broken_off' ? BROKEN_OFF : classOf(error.cause);
  }
  if (error instanceof AddressRefused) return 'address_refused';
  if (error instanceof errors.HTTPParserError) return 'bad_response';
  // Of several addresses each has its own.
  if (error instanceof AggregateError) return classOf(error.errors[0]);
  const { code = '' } = error as { code?: string };
  return TLS.test(code) ? 'tls' : (CLASSES[code] ?? 'connection_failed');
}
