import { invalid, Problem } from './problem.js';

export const BODY_MAX_BYTES = 64 * 1024;
const DEPTH_MAX = 64;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON body (RFC 8259). Bytes that are not UTF-8 are malformed; text that PostgreSQL or JSON cannot carry on
 * (U+0000, lone surrogates), numbers beyond a double, names such as `__proto__` and deep nesting are refused here, for
 * this request alone, before anything is stored.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const text = decode(bytes);
  const value = parse(text);
  const fault = findUnsafe(value, 0);
  if (fault !== undefined) throw invalid([{ path: fault.path.reverse().join('.'), message: fault.message }]);
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed('the body is not valid UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('the body is not valid JSON');
  }
}

function malformed(detail: string): Problem {
  return new Problem({ status: 400, code: 'malformed_json', detail });
}

interface Fault {
  /** Innermost name first. */
  readonly path: string[];
  readonly message: string;
}

function findUnsafe(value: unknown, depth: number): Fault | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : { path: [], message: 'must be a number that fits a double' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= DEPTH_MAX) return { path: [], message: `must not be nested deeper than ${DEPTH_MAX} levels` };
  for (const [key, inner] of Object.entries(value)) {
    const fault = keyFault(key) ?? findUnsafe(inner, depth + 1);
    if (fault === undefined) continue;
    fault.path.push(key);
    return fault;
  }
  return undefined;
}

function keyFault(key: string): Fault | undefined {
  if (key === '__proto__') return { path: [], message: 'is not a name that a field may have' };
  return textFault(key);
}

function textFault(text: string): Fault | undefined {
  if (text.includes('\u0000')) return { path: [], message: 'must not contain U+0000' };
  if (!text.isWellFormed()) return { path: [], message: 'must not contain a lone surrogate' };
  return undefined;
}
