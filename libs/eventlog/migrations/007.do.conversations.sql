-- Conversations as they are after their last event, with the state as the JSON text that deciders read.
CREATE TABLE conversations (
  tenant    text        NOT NULL,
  id        text        NOT NULL,
  version   integer     NOT NULL,
  owner     text        NOT NULL,
  -- When the first of its turn and its sends lapses.
  lapses_at timestamptz,
  state     text        NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX conversations_by_lapse ON conversations (lapses_at) WHERE lapses_at IS NOT NULL;

-- Continuations that nobody has taken yet, and when they are to be announced next. The event is the one that began it.
CREATE TABLE continuations (
  tenant        text        NOT NULL,
  conversation  text        NOT NULL,
  id            uuid        NOT NULL,
  event         uuid        NOT NULL,
  position      bigint      NOT NULL,
  begun_at      timestamptz NOT NULL,
  announcements integer     NOT NULL DEFAULT 0,
  announce_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant, conversation)
);
CREATE INDEX continuations_to_announce ON continuations (announce_at);

CREATE FUNCTION read_lapsed(until timestamptz, most integer)
RETURNS TABLE (tenant text, id text, state text)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY SELECT c.tenant, c.id, c.state FROM conversations c
  WHERE c.lapses_at <= until ORDER BY c.lapses_at LIMIT most;
END
$$;

CREATE FUNCTION next_lapse() RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT c.lapses_at FROM conversations c WHERE c.lapses_at IS NOT NULL ORDER BY c.lapses_at LIMIT 1);
END
$$;

-- The successor of the function of the same name with fewer parameters, which processes of the version before call as long
-- as any of them runs.
--
-- Appends a batch of events, one item each, in one transaction and one commit order. Each item has a verdict of its own:
-- `appended`, `conflict` (its version is taken or not the next), `too_early` / `too_late` (its guard against the clock),
-- `not_member` (its guard against the room), `replayed` / `key_reused` (its idempotency key is known).
-- A batch holds at most one item of a stream and one of an idempotency key. A column without values may be NULL.
--
-- Items of one group, which stand next to each other, are appended together or not at all: where one of them is refused,
-- the verdict `appended` of those before it is void, and those after it are `with_others`.
--
-- The lock is a statement of its own, so every later statement sees all that was committed under it. `now_` never runs
-- backwards against `position`.
--
-- Columns are read by subscript: unnest starts a scan for each of them, which costs a small batch more than all its rows.
-- For the same reason what a batch may not need stands behind an IF.
--
-- A plan is cached per session and made while tables may be empty, whatever they become. So each lookup is written so that
-- only one plan is left: an item first, then an index by equality. Hence the settings, LATERAL with LIMIT, and upserts
-- instead of joined updates.
-- In `data` and `envelope` the lone surrogates D800 and D801 stand for the commit time and for the deadline counted
-- from it; no other text can hold them.
CREATE FUNCTION append_events(
  event_schema smallint, ids uuid[], tenants text[], streams text[], versions integer[], types text[], datas text[],
  actors text[], correlations text[],
  not_befores timestamptz[], not_afters timestamptz[], lifetimes bigint[], member_rooms text[],
  keys bytea[], requests bytea[], results text[],
  questions uuid[], states text[], askers text[], addressees text[], conversations text[], deadlines timestamptz[],
  defaults text[], envelopes text[],
  groups integer[], chats text[], owners text[], chat_states text[], continuing uuid[],
  announce boolean
) RETURNS TABLE (item integer, verdict text, at_position bigint, at_time text, chain text, replay text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  size integer := cardinality(ids);
  head bigint;
  now_ timestamptz;
  now_json text;
  counted timestamptz;
  deadline_json text;
  judged record;
  places bigint[];
  hashes bytea[];
  shows boolean := false;
  opens boolean := false;
  closes boolean := false;
  talks boolean := false;
  group_ integer;
  group_start integer;
  group_head bigint;
  group_fails boolean := false;
BEGIN
  PERFORM pg_advisory_xact_lock(7301, 1);
  SELECT e.position, e.at INTO head, now_ FROM events e ORDER BY e.position DESC LIMIT 1;
  head := coalesce(head, 0);
  now_ := greatest(now_, date_trunc('milliseconds', clock_timestamp()));
  at_time := to_char(now_ AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  now_json := '"' || at_time || '"';

  FOR judged IN
    SELECT n, last.hash AS before, used.result AS known,
      CASE
        WHEN used.at > now_ - interval '24 hours'
          THEN CASE used.request WHEN requests[n] THEN 'replayed' ELSE 'key_reused' END
        WHEN coalesce(last.version, 0) <> versions[n] - 1 THEN 'conflict'
        WHEN not_befores[n] > now_ THEN 'too_early'
        WHEN not_afters[n] <= now_ THEN 'too_late'
        WHEN member_rooms[n] IS NOT NULL AND (
          SELECT m.since FROM room_members m
          WHERE m.tenant = tenants[n] AND m.room = member_rooms[n] AND m.subject = actors[n] LIMIT 1
        ) IS NULL THEN 'not_member'
        ELSE 'appended'
      END AS verdict
    FROM generate_series(1, size) AS n
    LEFT JOIN LATERAL (
      SELECT e.version, e.hash FROM events e
      WHERE e.tenant = tenants[n] AND e.stream = streams[n] ORDER BY e.version DESC LIMIT 1
    ) last ON true
    LEFT JOIN LATERAL (SELECT * FROM idempotency_keys k WHERE k.key = keys[n] LIMIT 1) used ON true
    ORDER BY n
  LOOP
    item := judged.n;
    verdict := judged.verdict;
    replay := judged.known;
    at_position := NULL;
    chain := NULL;
    IF groups IS NOT NULL THEN
      IF groups[item] IS DISTINCT FROM group_ THEN
        group_ := groups[item];
        group_start := item;
        group_head := head;
        group_fails := false;
      END IF;
      IF group_fails THEN
        verdict := 'with_others';
      ELSIF verdict <> 'appended' THEN
        group_fails := true;
        head := group_head;
        FOR taken IN group_start .. item - 1 LOOP
          places[taken] := NULL;
        END LOOP;
      END IF;
    END IF;
    IF verdict = 'appended' THEN
      head := head + 1;
      at_position := head;
      places[item] := head;
      counted := now_ + coalesce(lifetimes[item], 0) * interval '1 millisecond';
      deadline_json := '"' || to_char(counted AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"';
      deadlines[item] := least(deadlines[item], now_ + lifetimes[item] * interval '1 millisecond');
      datas[item] := replace(replace(datas[item], '"\ud800"', now_json), '"\ud801"', deadline_json);
      hashes[item] := sha256(coalesce(judged.before, ''::bytea) || convert_to(
        concat_ws(E'\n', head, ids[item], tenants[item], streams[item], versions[item], types[item], event_schema,
          at_time, actors[item], correlations[item], datas[item]), 'UTF8'));
      chain := encode(hashes[item], 'hex');
      IF questions[item] IS NOT NULL THEN
        envelopes[item] := replace(replace(envelopes[item], '"\ud800"', now_json), '"\ud801"', deadline_json);
        shows := true;
        opens := opens OR versions[item] = 1;
        closes := closes OR (versions[item] > 1 AND states[item] <> 'pending');
      END IF;
      IF chats[item] IS NOT NULL THEN
        chat_states[item] := replace(replace(chat_states[item], '"\ud800"', now_json), '"\ud801"', deadline_json);
        talks := true;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF places IS NULL THEN
    RETURN;
  END IF;

  INSERT INTO events (position, id, tenant, stream, version, type, schema, data, at, actor, correlation, hash)
  SELECT places[n], ids[n], tenants[n], streams[n], versions[n], types[n], event_schema, datas[n], now_, actors[n],
    correlations[n], hashes[n]
  FROM generate_series(1, size) AS n WHERE places[n] IS NOT NULL;

  IF keys IS NOT NULL THEN
    INSERT INTO idempotency_keys AS k (key, request, result, at)
    SELECT keys[n], requests[n], results[n], now_
    FROM generate_series(1, size) AS n WHERE places[n] IS NOT NULL AND keys[n] IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET request = excluded.request, result = excluded.result, at = excluded.at;
  END IF;

  IF shows THEN
    INSERT INTO questions AS q
      (tenant, id, version, state, asker, addressee, conversation, expires_at, default_option, envelope)
    SELECT tenants[n], questions[n], versions[n], states[n], askers[n], addressees[n], conversations[n], deadlines[n],
      defaults[n], envelopes[n]
    FROM generate_series(1, size) AS n WHERE places[n] IS NOT NULL AND questions[n] IS NOT NULL
    ON CONFLICT (tenant, id) DO UPDATE
    SET version = excluded.version, state = excluded.state, envelope = excluded.envelope;
  END IF;

  IF opens THEN
    INSERT INTO open_questions (tenant, id, expires_at)
    SELECT tenants[n], questions[n], deadlines[n]
    FROM generate_series(1, size) AS n
    WHERE places[n] IS NOT NULL AND questions[n] IS NOT NULL AND versions[n] = 1;
  END IF;

  IF closes THEN
    -- Rows of this table are written under the lock only, so none moves between its lookup and its deletion.
    DELETE FROM open_questions o WHERE o.ctid = ANY (ARRAY(
      SELECT open.ctid FROM generate_series(1, size) AS n, LATERAL (
        SELECT p.ctid FROM open_questions p WHERE p.tenant = tenants[n] AND p.id = questions[n] LIMIT 1
      ) open
      WHERE places[n] IS NOT NULL AND versions[n] > 1 AND states[n] <> 'pending'
    ));
  END IF;

  IF talks THEN
    FOR n IN 1 .. size LOOP
      CONTINUE WHEN places[n] IS NULL OR chats[n] IS NULL;
      INSERT INTO conversations AS c (tenant, id, version, owner, lapses_at, state)
      VALUES (tenants[n], chats[n], versions[n], owners[n], deadlines[n], chat_states[n])
      ON CONFLICT (tenant, id) DO UPDATE
      SET version = excluded.version, lapses_at = excluded.lapses_at, state = excluded.state;
      DELETE FROM continuations o
      WHERE o.tenant = tenants[n] AND o.conversation = chats[n] AND o.id IS DISTINCT FROM continuing[n];
      CONTINUE WHEN continuing[n] IS NULL;
      INSERT INTO continuations AS o (tenant, conversation, id, event, position, begun_at, announce_at)
      VALUES (tenants[n], chats[n], continuing[n], ids[n], places[n], now_, now_)
      ON CONFLICT (tenant, conversation) DO NOTHING;
    END LOOP;
  END IF;

  IF announce THEN
    PERFORM pg_notify('settled_log', '');
  END IF;
END
$$;
