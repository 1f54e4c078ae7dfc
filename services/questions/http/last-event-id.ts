import { PositionInQuerySchema } from '#contracts';
import { invalid } from '#platform';

/** The position after which a client resumes; undefined for one that starts. */
export function lastEventIdOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  const position = PositionInQuerySchema.safeParse(header);
  if (position.success) return position.data;
  throw invalid([{ path: 'Last-Event-ID', message: 'must be the id of an event of this stream' }]);
}
