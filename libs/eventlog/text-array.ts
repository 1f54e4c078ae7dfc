const TEXT_OID = 25;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * Texts as a `text[]` in PostgreSQL's binary format (`array_send`), which node-postgres sends as it is. The text format
 * would escape every quote of a JSON document here and take it back there, one character at a time.
 */
export function textArray(values: readonly (string | null | undefined)[]): Buffer {
  const lengths = values.map((value) => (value == null ? NULL_LENGTH : Buffer.byteLength(value)));
  const size = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(length, 0), HEADER_BYTES);
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(lengths.includes(NULL_LENGTH) ? 1 : 0, 4);
  bytes.writeInt32BE(TEXT_OID, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // lower bound
  let at = HEADER_BYTES;
  values.forEach((value, index) => {
    at = bytes.writeInt32BE(lengths[index] as number, at);
    if (value != null) at += bytes.write(value, at);
  });
  return bytes;
}
