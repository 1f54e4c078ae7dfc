import { expect } from '@jest/globals';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

const SECRETS = /\bat .+:\d+:\d+|node_modules|SELECT |INSERT |UPDATE |postgres|\.js\b|\.ts\b/i;

/** What a refusal says, after it has proved to be a problem as RFC 9457 and the contract have it. */
export async function problem(response: Response, status: number | readonly number[]): Promise<Problem> {
  const text = await response.text();
  const accepted = typeof status === 'number' ? [status] : status;
  if (!accepted.includes(response.status))
    throw new Error(`${response.status} instead of ${accepted}: ${text.slice(0, 500)}`);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  const body = JSON.parse(text) as Problem;
  expect(body).toMatchObject({
    type: expect.any(String),
    title: expect.any(String),
    status: response.status,
    detail: expect.any(String),
    code: expect.stringMatching(/^[a-z0-9_]+$/),
  });
  expect(text).not.toMatch(SECRETS);
  if (body.errors !== undefined) {
    for (const entry of body.errors)
      expect(entry).toStrictEqual({ path: expect.any(String), message: expect.any(String) });
  }
  return body;
}

/** The bad fields of a 422, sorted, with dots between the steps of a path. */
export async function badFields(response: Response): Promise<readonly string[]> {
  const { errors } = await problem(response, 422);
  const dotted = (path: string) =>
    path
      .replace(/^[#$]?[/.]?/, '')
      .replace(/[/[]/g, '.')
      .replaceAll(']', '');
  return (errors ?? []).map(({ path }) => dotted(path)).sort();
}
