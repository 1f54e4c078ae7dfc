import type { JWTPayload } from 'jose';
import {
  type AccessScope,
  AccessScopeSchema,
  DEFAULT_TENANT,
  type Principal,
  SubjectSchema,
  TenantSchema,
} from '#contracts';
import { unauthenticated } from '../http/problem.js';

const CLOCK_TOLERANCE_SECONDS = 30;
const JWKS_TIMEOUT_MS = 5_000;
/** Asymmetric only: what is fetched from a public address must not be a shared secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

export interface TokenSettings {
  readonly jwksUrl: URL;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

export interface TokenVerifier {
  /** Rejects with a 401 problem that says what is wrong with the token. */
  verify(token: string): Promise<Principal>;
}

/** Accepts JWTs (RFC 7519) that a key of the JWKS (RFC 7517) signed and that have not run out. */
export async function createTokenVerifier({
  jwksUrl,
  issuer,
  audience,
}: TokenSettings): Promise<TokenVerifier> {
  // Most installations have keys only; they need not carry it.
  const { createRemoteJWKSet, errors, jwtVerify } = await import('jose');
  const keys = createRemoteJWKSet(jwksUrl, { timeoutDuration: JWKS_TIMEOUT_MS });
  const options = {
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['sub', 'exp'],
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  };
  return {
    async verify(token) {
      const payload = await jwtVerify(token, keys, options).then(
        (result) => result.payload,
        (error: unknown) => {
          const reason = error instanceof errors.JOSEError ? error.message : 'its keys could not be fetched';
          throw unauthenticated(`this token was not accepted: ${reason}`);
        },
      );
      return principalOf(payload);
    },
  };
}

function principalOf(payload: JWTPayload): Principal {
  const subject = SubjectSchema.safeParse(payload.sub);
  const tenant = TenantSchema.safeParse(payload.tenant ?? DEFAULT_TENANT);
  if (!subject.success) throw unauthenticated('the token has no usable "sub"');
  if (!tenant.success) throw unauthenticated('the token has no usable "tenant"');
  const words = typeof payload.scope === 'string' ? payload.scope.split(' ') : [];
  const scopes = words.filter((word): word is AccessScope => AccessScopeSchema.safeParse(word).success);
  return { tenant: tenant.data, subject: subject.data, scopes: new Set(scopes) };
}
