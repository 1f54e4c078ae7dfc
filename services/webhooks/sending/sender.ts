import type { Agent } from 'undici';
import { errors, request } from 'undici';
import { AddressRefused } from './http-client.js';
import { signatureOf } from './signature.js';

/** Of a response: what is read at most, and what of it is kept. */
const READ_MAX_BYTES = 64 * 1024;
const KEPT_BYTES = 4 * 1024;
const KEPT_HEADERS = 50;
const KEPT_HEADER_CHARACTERS = 1_000;

export interface Message {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly ed25519?: string | undefined;
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
  constructor(
    private readonly agent: Agent,
    private readonly options: { readonly timeoutMs: number; readonly userAgent: string },
  ) {}

  /** Never rejects: whatever goes wrong is the result. */
  async send(message: Message): Promise<AttemptResult> {
    const at = new Date();
    const startedAt = performance.now();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.options.timeoutMs);
    let status: number | null = null;
    const result = (rest: Pick<AttemptResult, 'error' | 'response' | 'retryAfterMs'>): AttemptResult => ({
      at,
      durationMs: Math.round(performance.now() - startedAt),
      status,
      ...rest,
    });
    try {
      const response = await request(message.url, {
        dispatcher: this.agent,
        method: 'POST',
        headers: this.#headersOf(message, at),
        body: message.body,
        signal: deadline.signal,
      });
      status = response.statusCode;
      const body = await beginningOf(response.body);
      const headers = keptHeaders(response.headers);
      const error = status >= 200 && status < 300 ? null : `http_${status}`;
      const retryAfterMs = retryAfterOf(response.headers['retry-after'], at);
      return result({ error, response: { headers, body }, retryAfterMs });
    } catch (error) {
      return result({ error: deadline.signal.aborted ? 'timeout' : classOf(error), response: null });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Breaks off what is under way. */
  async stop(): Promise<void> {
    await this.agent.destroy();
  }

  #headersOf({ id, body, headers, secrets, ed25519 }: Message, at: Date): Record<string, string> {
    const timestamp = Math.floor(at.getTime() / 1_000);
    return {
      ...headers,
      'content-type': 'application/json',
      'user-agent': this.options.userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf({ id, timestamp, body }, { secrets, ed25519 }),
    };
  }
}

/** Reads a body to its end, or as far as it is worth it: the connection of a longer one is given up. */
async function beginningOf(
  body: AsyncIterable<Buffer> & { destroy(): unknown; on: NodeJS.EventEmitter['on'] },
) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // What is given up complains once more when nobody listens any longer.
  body.on('error', () => {});
  for await (const chunk of body) {
    if (bytes < KEPT_BYTES) chunks.push(chunk.subarray(0, KEPT_BYTES - bytes));
    bytes += chunk.length;
    if (bytes > READ_MAX_BYTES) break;
  }
  return textOf(Buffer.concat(chunks));
}

/** What PostgreSQL takes as a text. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\ufffd');
}

function keptHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const kept = Object.entries(headers).slice(0, KEPT_HEADERS);
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      textOf(Buffer.from([value].flat().join(', ').slice(0, KEPT_HEADER_CHARACTERS))),
    ]),
  );
}

function retryAfterOf(header: string | string[] | undefined, now: Date): number | undefined {
  const [value] = [header].flat();
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

const CLASSES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_NODATA: 'dns',
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
  UND_ERR_DESTROYED: 'broken_off',
};
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|ERR_OSSL)/;

/** One word for what kept a response from coming. */
function classOf(error: unknown): string {
  if (error instanceof AddressRefused) return 'address_refused';
  if (error instanceof errors.HTTPParserError) return 'bad_response';
  // Of several addresses each has its own.
  if (error instanceof AggregateError) return classOf(error.errors[0]);
  const { code = '' } = error as { code?: string };
  return TLS.test(code) ? 'tls' : (CLASSES[code] ?? 'connection_failed');
}
