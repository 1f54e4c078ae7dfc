import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { base64url, type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK } from 'jose';
import { ADA, House, questionBody } from '../support/journeys/house.js';
import { problem } from '../support/journeys/problems.js';
import { type Signing, TokenIssuer } from '../support/journeys/token-issuer.js';

const AGENT = { sub: 'agent:deployer', scope: 'ask' };

let issuer: TokenIssuer;
let house: House;
beforeAll(async () => {
  issuer = await TokenIssuer.start(['ES256', 'RS256', 'EdDSA']);
  house = await House.open(issuer.settings);
});
afterAll(async () => {
  await house.close();
  await issuer.stop();
});

const bearer = async (claims: object, signing: Signing = {}) => ({
  subject: 'token',
  key: await issuer.token({ ...claims }, signing),
});
const refused = async (key: string) => {
  const response = await house.get('/v1/questions', { subject: 'token', key });
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  return await problem(response, 401);
};
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const published = async (algorithm: string) => {
  const jwk = issuer.published.find(({ alg }) => alg === algorithm);
  return (await importJWK(jwk ?? {}, algorithm, { extractable: true })) as CryptoKey;
};
const unsigned = (header: object, claims: object) =>
  `${base64url.encode(JSON.stringify(header))}.${base64url.encode(JSON.stringify(claims))}.`;

describe('a token', () => {
  test.each(['ES256', 'RS256', 'EdDSA'])('signed with %s says who asks', async (algorithm) => {
    const question = await house.ask({}, await bearer(AGENT, { algorithm }));
    expect([question.asker, question.tenant]).toStrictEqual(['agent:deployer', 'default']);
  });

  test('says who answers', async () => {
    const { id } = await house.ask();
    const { applied, question } = await house.answer(
      id,
      { option: 'yes' },
      await bearer({ sub: ADA, scope: 'answer' }),
    );
    expect([applied, question.outcome?.by]).toStrictEqual([true, ADA]);
  });

  test('has the scopes that it names, of those that there are', async () => {
    const caller = await bearer({ ...AGENT, scope: 'openid ask audit profile' });
    await house.ask({}, caller);
    expect((await house.get('/v1/events', caller)).status).toBe(200);
    await problem(await house.get('/v1/keys', caller), 403);
  });

  test.each([[undefined], [''], ['openid'], ['ASK']])('with the scope %p may do nothing', async (scope) => {
    await problem(await house.post('/v1/questions', await bearer({ ...AGENT, scope }), questionBody()), 403);
  });

  test('is of the tenant that it names', async () => {
    const question = await house.ask({}, await bearer({ ...AGENT, tenant: 'acme' }));
    expect(question.tenant).toBe('acme');
    await problem(await house.get(`/v1/questions/${question.id}`, house.people.auditor), 404);
    await problem(await house.get(`/v1/questions/${question.id}`, await bearer(AGENT)), 404);
  });

  test('may name several audiences, ours among them', async () => {
    await house.ask({}, await bearer({ ...AGENT, aud: ['other', 'settled'] }));
  });

  test('works beside keys', async () => {
    const question = await house.ask({}, await bearer(AGENT));
    expect(await house.fetch(question.id, house.people.asker)).toStrictEqual(question);
  });
});

describe('a token is refused', () => {
  test.each<[string, object, Signing]>([
    ['of another issuer', { iss: 'https://other.example' }, {}],
    ['without an issuer', { iss: undefined }, {}],
    ['for another audience', { aud: 'other' }, {}],
    ['without an audience', { aud: undefined }, {}],
    ['that has expired', {}, { expires: inSeconds(-600) }],
    ['that is not valid yet', { nbf: inSeconds(600) }, {}],
    ['of a key that is not published', {}, { keyId: 'unknown' }],
    ['of the key of another algorithm', {}, { keyId: 'RS256' }],
    ['without a subject', { sub: undefined }, {}],
    ['with an empty subject', { sub: '' }, {}],
    ['with a space in its subject', { sub: 'user: ada' }, {}],
    ['with U+0000 in its subject', { sub: 'user:\u0000' }, {}],
    ['with a subject that is too long', { sub: 'x'.repeat(201) }, {}],
    ['with a subject that is a number', { sub: 5 as unknown as string }, {}],
    ['with a tenant that is a number', { tenant: 5 }, {}],
    ['with an empty tenant', { tenant: '' }, {}],
    ['with U+0000 in its tenant', { tenant: '\u0000' }, {}],
  ])('%s', async (_, claims, signing) => {
    await refused(await issuer.token({ ...AGENT, ...claims }, signing));
  });

  test('that somebody else signed', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    await refused(await issuer.token(AGENT, { key: privateKey }));
  });

  test('that nobody signed', async () => {
    const claims = { ...AGENT, iss: issuer.issuer, aud: issuer.audience, exp: inSeconds(300) };
    for (const alg of ['none', 'None', 'NONE', ''])
      await refused(unsigned({ alg, typ: 'JWT', kid: 'ES256' }, claims));
  });

  test('that was signed with what everybody knows', async () => {
    for (const keyId of ['RS256', 'ES256'])
      for (const secret of [
        await exportSPKI(await published(keyId)),
        JSON.stringify(await exportJWK(await published(keyId))),
      ])
        await refused(
          await issuer.token(AGENT, { algorithm: 'HS256', keyId, key: new TextEncoder().encode(secret) }),
        );
  });

  test('that was changed', async () => {
    const [header = '', payload = '', signature = ''] = (await issuer.token(AGENT)).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const more = base64url.encode(JSON.stringify({ ...claims, scope: 'ask admin' }));
    await refused(`${header}.${more}.${signature}`);
    await refused(`${header}.${payload}.${signature.slice(0, -4)}AAAA`);
    await refused(`${header}.${payload}.`);
    await refused(`${header}.${payload}`);
  });

  test.each(['a.b.c', '..', 'e30.e30.e30', `${'x'.repeat(4_000)}.y.z`])(
    'that is nonsense: %p',
    async (token) => {
      await refused(token);
    },
  );

  test('when the server trusts no issuer', async () => {
    const other = await House.open();
    try {
      const token = await issuer.token(AGENT);
      await problem(await other.get('/v1/questions', { subject: 'token', key: token }), 401);
    } finally {
      await other.close();
    }
  });
});
