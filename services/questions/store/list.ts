import type pg from 'pg';
import type { ListQuery, Principal } from '#contracts';
import { decodeCursor, encodeCursor } from '#platform';

export interface ListPage {
  /** JSON texts of the envelopes, newest first, joined by commas. */
  readonly json: string;
  readonly nextCursor: string | null;
  /** Whether something of the tenant is past its deadline and not settled yet: then the page may show it as pending. */
  readonly overdue: boolean;
}

interface Row {
  readonly json: string | null;
  readonly last: string | null;
  readonly more: boolean;
  readonly overdue: boolean;
}

/** One page of the questions that a principal may see. Ids are UUIDv7, so their order is the order of asking. */
export async function listQuestions(
  pool: pg.Pool,
  principal: Principal,
  query: ListQuery,
): Promise<ListPage> {
  const { text, values } = statementOf(principal, query);
  const { rows } = await pool.query<Row>(text, values);
  const { json, last, more, overdue } = rows[0] as Row;
  return {
    json: json ?? '',
    nextCursor: more && last !== null ? encodeCursor(last, filtersOf(query)) : null,
    overdue,
  };
}

/** Written for the filters at hand, and planned anew each time: a plan that was kept would not know how much there is. */
function statementOf(principal: Principal, query: ListQuery): { text: string; values: unknown[] } {
  const values: unknown[] = [principal.tenant, query.limit];
  const conditions = Object.entries(conditionsOf(query)).flatMap(([sql, value]) => {
    if (value === undefined) return [];
    if (sql.includes('?')) values.push(value);
    return [sql.replace('?', `$${values.length}`)];
  });
  const filter = ['q.tenant = $1', ...conditions].join(' AND ');
  const seesAll = principal.scopes.has('audit') || principal.scopes.has('admin');
  if (!seesAll) values.push(principal.subject);
  const page = seesAll ? newest(filter) : visible(filter, `$${values.length}::text`);
  const text = pageOf(page);
  return { text, values };
}

function filtersOf({ state, scope, room, user, asker, conversation }: ListQuery): readonly unknown[] {
  return [state, scope, room, user, asker, conversation];
}

function conditionsOf(query: ListQuery): Record<string, string | undefined> {
  const { cursor, state, scope, room, user, asker, conversation } = query;
  return {
    'q.id < ?::uuid': cursor === undefined ? undefined : decodeCursor(cursor, filtersOf(query)),
    'q.state = ?': state,
    // What is pending is found from its own small table, however much is settled.
    'EXISTS (SELECT FROM open_questions o WHERE o.tenant = q.tenant AND o.id = q.id)':
      state === 'pending' ? state : undefined,
    "q.addressee LIKE ? || ':%'": scope,
    "q.addressee = 'room:' || ?": room,
    "q.addressee = 'direct:' || ?": user,
    'q.asker = ?': asker,
    'q.conversation = ?': conversation,
  };
}

/** The newest questions that pass a filter, and one more that tells whether there is a next page. */
function newest(filter: string): string {
  return `SELECT q.id, q.envelope FROM questions q WHERE ${filter} ORDER BY q.id DESC LIMIT $2 + 1`;
}

/** The same of what a subject asked, and of what is addressed to them or to a room they are in. */
function visible(filter: string, subject: string): string {
  return `(${newest(`${filter} AND q.asker = ${subject}`)})
    UNION ALL
    SELECT theirs.* FROM (
      SELECT 'direct:' || ${subject} AS addressee
      UNION ALL SELECT 'room:' || m.room FROM room_members m WHERE m.tenant = $1 AND m.subject = ${subject}
    ) inbox CROSS JOIN LATERAL (${newest(`${filter} AND q.addressee = inbox.addressee AND q.asker <> ${subject}`)}) theirs`;
}

// statement_timestamp() can be looked up in an index; it is the database's clock when the statement began.
function pageOf(candidates: string): string {
  return `SELECT string_agg(p.envelope, ',' ORDER BY p.id DESC) FILTER (WHERE p.nth <= $2) AS json,
      max(p.id::text) FILTER (WHERE p.nth = $2) AS last, count(*) > $2 AS more,
      EXISTS (SELECT FROM open_questions o WHERE o.tenant = $1 AND o.expires_at <= statement_timestamp()) AS overdue
    FROM (SELECT c.id, c.envelope, row_number() OVER (ORDER BY c.id DESC) AS nth FROM (${candidates}) c) p`;
}
