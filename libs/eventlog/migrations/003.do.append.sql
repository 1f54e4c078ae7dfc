-- Appends a batch of events, one item each, in one transaction and one commit order. Each item has a verdict of its own:
-- `appended`, `conflict` (its version is taken or not the next), `too_early` / `too_late` (its guard against the clock),
-- `not_member` (its guard against the room), `replayed` / `key_reused` (its idempotency key is known).
--
-- The lock is a statement of its own, so every later statement sees all that was committed under it. `now_` never runs
-- backwards against `position`.
--
-- A plan is cached per session and made while tables may be empty, whatever they become. So each lookup is written so that
-- only one plan is left: an item first, then an index by equality. Hence the settings, LATERAL with LIMIT or OFFSET, and
-- upserts instead of joined updates.
-- In `data` and `envelope` the lone surrogates D800 and D801 stand for the commit time and for the deadline counted
-- from it; no other text can hold them.
CREATE FUNCTION append_events(
  ids uuid[], tenants text[], streams text[], versions integer[], types text[], schemas smallint[], datas text[],
  actors text[], correlations text[],
  not_befores timestamptz[], not_afters timestamptz[], lifetimes bigint[], member_rooms text[],
  keys bytea[], requests bytea[], results text[],
  questions uuid[], states text[], askers text[], addressees text[], conversations text[], deadlines timestamptz[],
  defaults text[], envelopes text[],
  announce boolean
) RETURNS TABLE (item bigint, verdict text, at_position bigint, at_time text, chain text, replay text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  head bigint;
  now_ timestamptz;
  now_text text;
  now_json text;
  oldest_key timestamptz;
  verdicts text[];
  places bigint[];
  previous bytea[];
  replays text[];
BEGIN
  PERFORM pg_advisory_xact_lock(7301, 1);
  SELECT e.position, e.at INTO head, now_ FROM events e ORDER BY e.position DESC LIMIT 1;
  head := coalesce(head, 0);
  now_ := greatest(now_, date_trunc('milliseconds', clock_timestamp()));
  now_text := to_char(now_ AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  now_json := '"' || now_text || '"';
  oldest_key := now_ - interval '24 hours';

  -- Judged on the few narrow columns that it takes: what is sorted here is copied several times.
  WITH judged AS (
    SELECT g.item, g.tenant, g.stream, g.key, last.hash AS before, used.result AS known,
      CASE
        WHEN used.at > oldest_key THEN CASE used.request WHEN g.request THEN 'replayed' ELSE 'key_reused' END
        WHEN coalesce(last.version, 0) <> g.version - 1 THEN 'conflict'
        WHEN g.not_before > now_ THEN 'too_early'
        WHEN g.not_after <= now_ THEN 'too_late'
        WHEN g.member_room IS NOT NULL AND (
          SELECT m.since FROM room_members m
          WHERE m.tenant = g.tenant AND m.room = g.member_room AND m.subject = g.actor LIMIT 1
        ) IS NULL THEN 'not_member'
        ELSE 'appended'
      END AS verdict
    FROM unnest(tenants, streams, versions, actors, not_befores, not_afters, member_rooms, keys, requests)
      WITH ORDINALITY AS g (tenant, stream, version, actor, not_before, not_after, member_room, key, request, item)
    LEFT JOIN LATERAL (
      SELECT e.version, e.hash FROM events e
      WHERE e.tenant = g.tenant AND e.stream = g.stream ORDER BY e.version DESC LIMIT 1
    ) last ON true
    LEFT JOIN LATERAL (SELECT * FROM idempotency_keys k WHERE k.key = g.key LIMIT 1) used ON true
  ),
  -- Of several items of one stream, or of one idempotency key, the first that may be appended wins.
  decided AS (
    SELECT j.item, j.before, j.known,
      CASE WHEN j.verdict = 'appended' AND (
        row_number() OVER (PARTITION BY j.tenant, j.stream, j.verdict ORDER BY j.item) > 1
        OR row_number() OVER (PARTITION BY coalesce(j.key, int8send(j.item)), j.verdict ORDER BY j.item) > 1
      ) THEN 'conflict' ELSE j.verdict END AS verdict
    FROM judged j
  ),
  placed AS (
    SELECT d.*, CASE WHEN d.verdict = 'appended'
      THEN head + count(*) FILTER (WHERE d.verdict = 'appended') OVER (ORDER BY d.item) END AS place
    FROM decided d
  )
  SELECT array_agg(p.verdict ORDER BY p.item), array_agg(p.place ORDER BY p.item), array_agg(p.before ORDER BY p.item),
    array_agg(p.known ORDER BY p.item)
  INTO verdicts, places, previous, replays FROM placed p;

  RETURN QUERY
  WITH given AS (
    SELECT g.*, coalesce(g.deadline, now_ + g.lifetime * interval '1 millisecond') AS expires_at,
      replace(replace(g.data, '"\ud800"', now_json), '"\ud801"', d.deadline_json) AS filled,
      replace(replace(g.envelope, '"\ud800"', now_json), '"\ud801"', d.deadline_json) AS shown
    FROM unnest(
      verdicts, places, previous, replays, ids, tenants, streams, versions, types, schemas, datas, actors, correlations,
      lifetimes, keys, requests, results, questions, states, askers, addressees, conversations, deadlines, defaults,
      envelopes
    ) WITH ORDINALITY AS g (
      verdict, place, before, known, id, tenant, stream, version, type, schema, data, actor, correlation,
      lifetime, key, request, result, question, state, asker, addressee, conversation, deadline, default_option,
      envelope, item
    ),
    LATERAL (SELECT '"' || to_char((now_ + coalesce(g.lifetime, 0) * interval '1 millisecond') AT TIME ZONE 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"' AS deadline_json OFFSET 0) d
  ),
  chained AS MATERIALIZED (
    SELECT g.*, CASE WHEN g.place IS NOT NULL THEN sha256(coalesce(g.before, ''::bytea) || convert_to(
      concat_ws(E'\n', g.place, g.id, g.tenant, g.stream, g.version, g.type, g.schema, now_text, g.actor,
        g.correlation, g.filled), 'UTF8')) END AS hash
    FROM given g
  ),
  logged AS (
    INSERT INTO events (position, id, tenant, stream, version, type, schema, data, at, actor, correlation, hash)
    SELECT c.place, c.id, c.tenant, c.stream, c.version, c.type, c.schema, c.filled, now_, c.actor, c.correlation,
      c.hash
    FROM chained c WHERE c.place IS NOT NULL
  ),
  remembered AS (
    INSERT INTO idempotency_keys AS k (key, request, result, at)
    SELECT c.key, c.request, c.result, now_ FROM chained c WHERE c.place IS NOT NULL AND c.key IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET request = excluded.request, result = excluded.result, at = excluded.at
  ),
  viewed AS (
    INSERT INTO questions AS q
      (tenant, id, version, state, asker, addressee, conversation, expires_at, default_option, envelope)
    SELECT c.tenant, c.question, c.version, c.state, c.asker, c.addressee, c.conversation, c.expires_at,
      c.default_option, c.shown
    FROM chained c WHERE c.place IS NOT NULL AND c.question IS NOT NULL
    ON CONFLICT (tenant, id) DO UPDATE
    SET version = excluded.version, state = excluded.state, envelope = excluded.envelope
  ),
  opened AS (
    INSERT INTO open_questions (tenant, id, expires_at)
    SELECT c.tenant, c.question, c.expires_at FROM chained c
    WHERE c.place IS NOT NULL AND c.question IS NOT NULL AND c.version = 1
  ),
  -- Rows of this table are written under the lock only, so none moves between its lookup and its deletion.
  closed AS (
    DELETE FROM open_questions o WHERE o.ctid = ANY (ARRAY(
      SELECT found.ctid FROM chained c, LATERAL (
        SELECT p.ctid FROM open_questions p WHERE p.tenant = c.tenant AND p.id = c.question LIMIT 1
      ) found
      WHERE c.place IS NOT NULL AND c.version > 1 AND c.state <> 'pending'
    ))
  )
  SELECT c.item, c.verdict, c.place, now_text, encode(c.hash, 'hex'), c.known FROM chained c ORDER BY c.item;

  IF announce THEN
    PERFORM pg_notify('settled_log', '');
  END IF;
END
$$;
