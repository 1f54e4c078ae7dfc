import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export interface Signing {
  readonly algorithm?: string;
  readonly keyId?: string;
  /** A moment in seconds since 1970, or a span such as `5m`; null for none. */
  readonly expires?: string | number | null;
  readonly key?: CryptoKey | Uint8Array;
}

/** Signs tokens and publishes the keys that prove it (a JWKS), as an identity provider does. */
export class TokenIssuer {
  readonly issuer = 'https://issuer.example';
  readonly audience = 'settled';

  private constructor(
    readonly server: Server,
    readonly keys: Readonly<Record<string, CryptoKey>>,
    readonly published: readonly JWK[],
  ) {}

  static async start(algorithms: readonly string[]): Promise<TokenIssuer> {
    const keys: Record<string, CryptoKey> = {};
    const published: JWK[] = [];
    for (const alg of algorithms) {
      const pair = await generateKeyPair(alg, { extractable: true });
      keys[alg] = pair.privateKey;
      published.push({ ...(await exportJWK(pair.publicKey)), alg, use: 'sig', kid: alg });
    }
    const server = createServer((_, reply) => {
      reply.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: published }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TokenIssuer(server, keys, published);
  }

  /** The settings of a Settled that trusts this issuer. */
  get settings(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      AUTH_JWKS_URL: `http://127.0.0.1:${port}/jwks.json`,
      AUTH_ISSUER: this.issuer,
      AUTH_AUDIENCE: this.audience,
    };
  }

  async token(claims: JWTPayload, signing: Signing = {}): Promise<string> {
    const { algorithm = 'ES256', keyId = algorithm, expires = '5m', key = this.keys[algorithm] } = signing;
    if (key === undefined) throw new Error(`no key for ${algorithm}`);
    const all = { iss: this.issuer, aud: this.audience, ...claims };
    const unsigned = new SignJWT(all).setProtectedHeader({ alg: algorithm, kid: keyId }).setIssuedAt();
    if (expires !== null) unsigned.setExpirationTime(expires);
    return await unsigned.sign(key);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
