import { request } from 'node:http';

export interface RawRequest {
  readonly method?: string;
  /** As it goes on the wire: nothing is parsed, encoded or normalised. */
  readonly path: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

const WITHIN_MS = 30_000;

/** A request that `fetch` would refuse or repair. */
export function rawRequest(
  url: string,
  { method = 'GET', path, key, headers = {}, body }: RawRequest,
): Promise<Response> {
  const { hostname, port } = new URL(url);
  const all = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json', ...lengthOf(body, headers) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, headers: all, agent: false, timeout: WITHIN_MS },
      (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('error', reject);
        reply.on('end', () => {
          const named = Object.entries(reply.headers).map(
            ([name, value]) => [name, String(value)] as [string, string],
          );
          const status = reply.statusCode ?? 0;
          const text = Buffer.concat(chunks);
          resolve(new Response([204, 304].includes(status) ? null : text, { status, headers: named }));
        });
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no reply to ${method} ${path}`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Node announces no length of the body of a GET or a DELETE. */
function lengthOf(body: string | Uint8Array, headers: Record<string, string>): Record<string, number> {
  return 'transfer-encoding' in headers ? {} : { 'content-length': Buffer.byteLength(body) };
}
