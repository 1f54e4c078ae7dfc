import { createHash } from 'node:crypto';
import { invalid } from './problem.js';

const ID_BYTES = 16;
const CHECK_BYTES = 8;

/** Where a list of ids goes on: the last id, with a digest that ties it to the list, which `filters` name. */
export function encodeCursor(id: string, filters: readonly unknown[]): string {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  return Buffer.concat([bytes, checkOf(bytes, filters)]).toString('base64url');
}

/** The id in a cursor. Throws 422 for one that this list has not made. */
export function decodeCursor(cursor: string, filters: readonly unknown[]): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const id = bytes.subarray(0, ID_BYTES);
  const intact =
    bytes.length === ID_BYTES + CHECK_BYTES && bytes.subarray(ID_BYTES).equals(checkOf(id, filters));
  if (!intact || bytes.toString('base64url') !== cursor) {
    throw invalid([{ path: 'cursor', message: 'must be the nextCursor of a list with the same filters' }]);
  }
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function checkOf(id: Buffer, filters: readonly unknown[]): Buffer {
  return createHash('sha256').update(id).update(JSON.stringify(filters)).digest().subarray(0, CHECK_BYTES);
}
