-- Appends a batch of events, one item each, in one transaction and one commit order. Each item has a verdict of its own:
-- `appended`, `conflict` (its version is taken or not the next), `too_early` / `too_late` (its guard against the clock),
-- `not_member` (its guard against the room), `replayed` / `key_reused` (its idempotency key is known).
--
-- The lock is a statement of its own, so every later statement sees all that was committed under it. `now_` never runs
-- backwards against `position`. Planner settings are pinned because cached plans made on empty tables would scan.
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
BEGIN
  PERFORM pg_advisory_xact_lock(7301, 1);
  SELECT e.position, e.at INTO head, now_ FROM events e ORDER BY e.position DESC LIMIT 1;
  head := coalesce(head, 0);
  now_ := greatest(now_, date_trunc('milliseconds', clock_timestamp()));
  now_text := to_char(now_ AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  now_json := '"' || now_text || '"';

  RETURN QUERY
  WITH given AS MATERIALIZED (
    SELECT * FROM unnest(
      ids, tenants, streams, versions, types, schemas, datas, actors, correlations, not_befores, not_afters, lifetimes,
      member_rooms, keys, requests, results, questions, states, askers, addressees, conversations, deadlines, defaults,
      envelopes
    ) WITH ORDINALITY AS g (
      id, tenant, stream, version, type, schema, data, actor, correlation, not_before, not_after, lifetime,
      member_room, key, request, result, question, state, asker, addressee, conversation, deadline, default_option,
      envelope, item
    )
  ),
  judged AS MATERIALIZED (
    SELECT g.*, last.hash AS previous, used.result AS known_result,
      CASE
        WHEN used.request = g.request THEN 'replayed'
        WHEN used.request IS NOT NULL THEN 'key_reused'
        WHEN coalesce(last.version, 0) <> g.version - 1 THEN 'conflict'
        WHEN g.not_before > now_ THEN 'too_early'
        WHEN g.not_after <= now_ THEN 'too_late'
        WHEN g.member_room IS NOT NULL AND NOT EXISTS (
          SELECT FROM room_members m
          WHERE m.tenant = g.tenant AND m.room = g.member_room AND m.subject = g.actor
        ) THEN 'not_member'
        ELSE 'appended'
      END AS verdict
    FROM given g
    LEFT JOIN LATERAL (
      SELECT e.version, e.hash FROM events e
      WHERE e.tenant = g.tenant AND e.stream = g.stream ORDER BY e.version DESC LIMIT 1
    ) last ON true
    LEFT JOIN idempotency_keys used ON used.key = g.key AND used.at > now_ - interval '24 hours'
  ),
  -- Of several items of one stream, or of one idempotency key, the first that may be appended wins.
  ranked AS MATERIALIZED (
    SELECT j.*,
      row_number() OVER (PARTITION BY j.tenant, j.stream, j.verdict ORDER BY j.item) AS of_stream,
      row_number() OVER (PARTITION BY coalesce(j.key, uuid_send(j.id)), j.verdict ORDER BY j.item) AS of_key
    FROM judged j
  ),
  placed AS MATERIALIZED (
    SELECT r.*, head + row_number() OVER (ORDER BY r.item) AS position,
      replace(replace(r.data, '"\ud800"', now_json), '"\ud801"', deadline_text) AS filled,
      replace(replace(r.envelope, '"\ud800"', now_json), '"\ud801"', deadline_text) AS shown,
      coalesce(r.deadline, now_ + r.lifetime * interval '1 millisecond') AS expires_at
    FROM ranked r,
      LATERAL (SELECT '"' || to_char((now_ + coalesce(r.lifetime, 0) * interval '1 millisecond') AT TIME ZONE 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"' AS deadline_text) d
    WHERE r.verdict = 'appended' AND r.of_stream = 1 AND r.of_key = 1
  ),
  chained AS MATERIALIZED (
    SELECT p.*, sha256(coalesce(p.previous, ''::bytea) || convert_to(
      concat_ws(E'\n', p.position, p.id, p.tenant, p.stream, p.version, p.type, p.schema, now_text, p.actor,
        p.correlation, p.filled), 'UTF8')) AS hash
    FROM placed p
  ),
  logged AS (
    INSERT INTO events (position, id, tenant, stream, version, type, schema, data, at, actor, correlation, hash)
    SELECT c.position, c.id, c.tenant, c.stream, c.version, c.type, c.schema, c.filled, now_, c.actor, c.correlation,
      c.hash
    FROM chained c ORDER BY c.position
  ),
  remembered AS (
    INSERT INTO idempotency_keys AS k (key, request, result, at)
    SELECT c.key, c.request, c.result, now_ FROM chained c WHERE c.key IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET request = excluded.request, result = excluded.result, at = excluded.at
  ),
  viewed AS (
    INSERT INTO questions AS q
      (tenant, id, version, state, asker, addressee, conversation, expires_at, default_option, envelope)
    SELECT c.tenant, c.question, c.version, c.state, c.asker, c.addressee, c.conversation, c.expires_at,
      c.default_option, c.shown
    FROM chained c WHERE c.question IS NOT NULL AND c.version = 1
  ),
  opened AS (
    INSERT INTO open_questions (tenant, id, expires_at)
    SELECT c.tenant, c.question, c.expires_at FROM chained c WHERE c.question IS NOT NULL AND c.version = 1
  ),
  updated AS (
    UPDATE questions q SET version = c.version, state = c.state, envelope = c.shown
    FROM chained c WHERE c.version > 1 AND q.tenant = c.tenant AND q.id = c.question
  ),
  closed AS (
    DELETE FROM open_questions o USING chained c
    WHERE c.version > 1 AND c.state <> 'pending' AND o.tenant = c.tenant AND o.id = c.question
  )
  SELECT r.item, CASE WHEN c.item IS NULL AND r.verdict = 'appended' THEN 'conflict' ELSE r.verdict END,
    c.position, now_text, encode(c.hash, 'hex'), r.known_result
  FROM ranked r LEFT JOIN chained c ON c.item = r.item
  ORDER BY r.item;

  IF announce THEN
    PERFORM pg_notify('settled_log', '');
  END IF;
END
$$;
