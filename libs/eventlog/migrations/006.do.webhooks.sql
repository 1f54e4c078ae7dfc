-- Who wants to be told of what, and where. A webhook that is deleted stays as a row as long as its deliveries do.
CREATE TABLE webhooks (
  id              uuid             PRIMARY KEY,
  tenant          text             NOT NULL,
  url             text             NOT NULL,
  events          text[]           NOT NULL,
  description     text,
  headers         text             NOT NULL,
  enabled         boolean          NOT NULL,
  disabled_reason text,
  disabled_at     timestamptz,
  ordered         boolean          NOT NULL,
  max_concurrency integer          NOT NULL,
  rate_limit      integer,
  rate_seconds    double precision,
  -- The private key, sealed as secrets are.
  ed25519         bytea,
  public_key      text,
  created_at      timestamptz      NOT NULL DEFAULT clock_timestamp(),
  updated_at      timestamptz      NOT NULL DEFAULT clock_timestamp(),
  -- Events up to this position are none of its.
  active_after    bigint           NOT NULL,
  -- Of an ordered one: every event up to this position has its delivery.
  complete_to     bigint           NOT NULL,
  -- Of the first attempt that failed since one succeeded, and how many did, up to where it makes no difference.
  failing_since   timestamptz,
  failures        integer          NOT NULL DEFAULT 0,
  deleted_at      timestamptz
);
CREATE INDEX webhooks_of_tenant ON webhooks (tenant, id) WHERE deleted_at IS NULL;

CREATE TABLE webhook_secrets (
  webhook uuid        NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  number  integer     NOT NULL,
  sealed  bytea       NOT NULL,
  until   timestamptz,
  PRIMARY KEY (webhook, number)
);

-- The key that secrets are sealed with, where an installation has no other place for it.
CREATE TABLE webhook_keys (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  key      bytea   NOT NULL
);

-- What is sent of an event: byte for byte the same to every webhook and at every attempt.
CREATE TABLE webhook_messages (
  event uuid PRIMARY KEY,
  body  text NOT NULL
);

-- One message on its way to one webhook.
CREATE TABLE webhook_deliveries (
  id              uuid        PRIMARY KEY,
  webhook         uuid        NOT NULL,
  tenant          text        NOT NULL,
  event           uuid        NOT NULL,
  position        bigint,
  type            text        NOT NULL,
  status          text        NOT NULL DEFAULT 'pending',
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the schedule wants it, and when it is really due: a manual retry, at -infinity, goes first.
  scheduled_at    timestamptz DEFAULT clock_timestamp(),
  next_attempt_at timestamptz DEFAULT clock_timestamp(),
  tries           integer     NOT NULL DEFAULT 0,
  manual          integer     NOT NULL DEFAULT 0,
  -- How often its schedule has begun anew: what comes of an attempt before that says nothing about it.
  replays         integer     NOT NULL DEFAULT 0,
  completed_at    timestamptz,
  UNIQUE (event, webhook)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, next_attempt_at, position) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, position)
  WHERE status = 'pending' AND position IS NOT NULL;
CREATE INDEX webhook_deliveries_in_no_order ON webhook_deliveries (webhook, next_attempt_at)
  WHERE status = 'pending' AND position IS NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook, id);
CREATE INDEX webhook_deliveries_completed ON webhook_deliveries (completed_at) WHERE completed_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery         uuid        NOT NULL,
  number           bigint      GENERATED ALWAYS AS IDENTITY,
  at               timestamptz NOT NULL,
  duration_ms      integer     NOT NULL,
  status           integer,
  error            text,
  response_headers text,
  response_body    text,
  PRIMARY KEY (delivery, number)
);

-- Who is sending what, and until when it is nobody else's; and when those that are paced were sent something. What a crash
-- of the server takes of these is what the end of a lease takes too, so they need not be written ahead.
CREATE UNLOGGED TABLE webhook_claims (
  webhook  uuid        NOT NULL,
  delivery uuid        NOT NULL,
  claimant uuid        NOT NULL,
  until    timestamptz NOT NULL,
  PRIMARY KEY (webhook, delivery)
);
CREATE UNLOGGED TABLE webhook_sends (
  webhook uuid        NOT NULL,
  at      timestamptz NOT NULL
);
CREATE INDEX webhook_sends_of_webhook ON webhook_sends (webhook, at);

-- A UUIDv7 (RFC 9562, section 5.7) of now: PostgreSQL makes them itself from version 18 on.
CREATE FUNCTION new_uuid7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;

-- One delivery of each event to each webhook that wants it. The webhooks are locked against being deleted meanwhile, so that
-- a deleted one is left without. Returns how many there are that were not there before.
CREATE FUNCTION fan_out(ids uuid[], tenants text[], positions bigint[], types text[], bodies text[])
RETURNS bigint LANGUAGE sql AS $$
  WITH takers AS (
    SELECT w.id AS webhook, e.*
    FROM unnest(ids, tenants, positions, types, bodies) AS e(id, tenant, position, type, body)
    JOIN webhooks w ON w.tenant = e.tenant AND w.deleted_at IS NULL AND w.enabled AND e.type = ANY (w.events)
      AND (e.position IS NULL OR e.position > w.active_after)
    ORDER BY e.position, w.id
    FOR KEY SHARE OF w
  ), messages AS (
    INSERT INTO webhook_messages (event, body) SELECT DISTINCT ON (id) id, body FROM takers ON CONFLICT DO NOTHING
  ), made AS (
    INSERT INTO webhook_deliveries (id, webhook, tenant, event, position, type)
    SELECT new_uuid7(), webhook, tenant, id, position, type FROM takers
    ON CONFLICT (event, webhook) DO NOTHING
    RETURNING 1
  )
  SELECT count(*) FROM made
$$;

-- Claims up to so many deliveries that are due, for as long as the lease: of no webhook so many that more than that are in
-- flight, or more than it may have in flight or may be sent in its time, one after the other in commit order where it wants that, and one at a time,
-- twenty a second, where the last ten attempts have failed. Claims take turns, so that what one counts the next one sees.
-- What a webhook says stands in one of its rows only.
CREATE FUNCTION claim_deliveries(by_claimant uuid, lease interval, at_most bigint)
RETURNS TABLE (id uuid, webhook uuid, body text, tries integer, replays integer, is_manual boolean, url text,
  headers text, secrets bytea[], ed25519 bytea)
LANGUAGE plpgsql
-- A queue's statistics are always wrong. Lookups by index are never far from the best, and tidy up behind what has ended.
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  present timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7301, 3);
  present := clock_timestamp();
  -- In order is only what nothing can come before any more. That is found out a stretch of the log at a time.
  WITH bounded AS (
    SELECT o.*, least(o.complete_to + 20000, (SELECT max(e.position) FROM events e)) AS seen_to
    FROM webhooks o
    WHERE o.ordered AND o.enabled AND o.deleted_at IS NULL
      AND EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook = o.id AND d.status = 'pending')
  ), found AS (
    SELECT o.id, coalesce(
      (SELECT e.position - 1 FROM events e
       WHERE e.tenant = o.tenant AND e.position > o.complete_to AND e.position <= o.seen_to AND e.type = ANY (o.events)
         AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event = e.id AND d.webhook = o.id)
       ORDER BY e.position LIMIT 1),
      o.seen_to) AS complete_to
    FROM bounded o
  ), changing AS (
    SELECT w.id, found.complete_to FROM webhooks w JOIN found ON found.id = w.id AND w.complete_to < found.complete_to
    ORDER BY w.id FOR NO KEY UPDATE OF w
  )
  UPDATE webhooks w SET complete_to = changing.complete_to FROM changing WHERE w.id = changing.id;

  RETURN QUERY
  WITH RECURSIVE waiting AS (
    (SELECT d.webhook, d.next_attempt_at FROM webhook_deliveries d WHERE d.status = 'pending'
      ORDER BY d.webhook, d.next_attempt_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM waiting CROSS JOIN LATERAL
      (SELECT d.webhook, d.next_attempt_at FROM webhook_deliveries d
        WHERE d.status = 'pending' AND d.webhook > waiting.webhook
        ORDER BY d.webhook, d.next_attempt_at LIMIT 1) next
  ), open AS (
    SELECT w.*, w.rate_limit IS NOT NULL OR w.failures >= 10 AS is_paced, least(
      CASE WHEN w.ordered OR w.failures >= 10 THEN 1 ELSE least(w.max_concurrency, at_most) END
        - (SELECT count(*) FROM webhook_claims c WHERE c.webhook = w.id AND c.until > present),
      w.rate_limit
        - (SELECT count(*) FROM webhook_sends s
           WHERE s.webhook = w.id AND s.at > present - make_interval(secs => w.rate_seconds)),
      CASE WHEN w.failures >= 10 AND
        (SELECT s.at FROM webhook_sends s WHERE s.webhook = w.id ORDER BY s.at DESC LIMIT 1)
          > present - interval '50 milliseconds' THEN 0 END
    ) AS room
    FROM waiting CROSS JOIN LATERAL
      (SELECT h.* FROM webhooks h WHERE h.id = waiting.webhook AND h.enabled AND h.deleted_at IS NULL OFFSET 0) w
    WHERE waiting.next_attempt_at <= present
    ORDER BY random()
  ), chosen AS (
    SELECT due.*, open.is_paced FROM open CROSS JOIN LATERAL (
      SELECT d.id, d.webhook, d.event, d.tries, d.replays, d.manual FROM (
        (SELECT f.* FROM webhook_deliveries f
         WHERE NOT open.ordered AND f.webhook = open.id AND f.status = 'pending' AND f.next_attempt_at <= present
         ORDER BY f.webhook, f.next_attempt_at, f.position)
        UNION ALL
        -- In order: what somebody asked for, what is in no order, and what nothing comes before.
        (SELECT f.* FROM webhook_deliveries f
         WHERE open.ordered AND f.webhook = open.id AND f.status = 'pending' AND f.next_attempt_at = '-infinity')
        UNION ALL
        (SELECT f.* FROM webhook_deliveries f
         WHERE open.ordered AND f.webhook = open.id AND f.status = 'pending' AND f.position IS NULL
           AND f.next_attempt_at > '-infinity' AND f.next_attempt_at <= present)
        UNION ALL
        (SELECT f.* FROM
          (SELECT h.* FROM webhook_deliveries h
           WHERE open.ordered AND h.webhook = open.id AND h.status = 'pending' AND h.position IS NOT NULL
           ORDER BY h.webhook, h.position LIMIT 1) f
         WHERE f.position <= open.complete_to AND f.next_attempt_at > '-infinity' AND f.next_attempt_at <= present)
      ) d
      WHERE NOT EXISTS
        (SELECT FROM webhook_claims c WHERE c.webhook = d.webhook AND c.delivery = d.id AND c.until > present)
      LIMIT greatest(open.room, 0)
    ) due
    LIMIT at_most
  ), claimed AS (
    INSERT INTO webhook_claims (webhook, delivery, claimant, until)
    SELECT webhook, id, by_claimant, present + lease FROM chosen ORDER BY webhook, id
    ON CONFLICT (webhook, delivery) DO UPDATE SET claimant = excluded.claimant, until = excluded.until
  ), sent AS (
    INSERT INTO webhook_sends (webhook, at) SELECT webhook, present FROM chosen WHERE is_paced
  )
  SELECT c.id, c.webhook, m.body, c.tries, c.replays, c.manual > 0, w.url, w.headers,
    CASE WHEN w.id IS NOT NULL THEN
      (SELECT array_agg(s.sealed ORDER BY s.number DESC) FROM webhook_secrets s
       WHERE s.webhook = w.id AND (s.until IS NULL OR s.until > present)) END,
    w.ed25519
  FROM (SELECT chosen.*, row_number() OVER (PARTITION BY chosen.webhook) AS number FROM chosen) c
  JOIN webhook_messages m ON m.event = c.event
  LEFT JOIN webhooks w ON w.id = c.webhook AND c.number = 1;
END
$$;

-- Claims of what is still under way go on. A claim that is just being ended is left alone.
CREATE FUNCTION renew_claims(by_claimant uuid, hooks uuid[], ids uuid[], lease interval) RETURNS void LANGUAGE sql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
  UPDATE webhook_claims c SET until = clock_timestamp() + lease
  FROM (
    SELECT c.webhook, c.delivery FROM webhook_claims c
    JOIN unnest(hooks, ids) AS r(webhook, id) ON c.webhook = r.webhook AND c.delivery = r.id
    WHERE c.claimant = by_claimant FOR UPDATE OF c SKIP LOCKED
  ) own
  WHERE c.webhook = own.webhook AND c.delivery = own.delivery
$$;

-- Records attempts and what follows from them: `delays`, in seconds, are null where the schedule has come to its end. A claim that was
-- lost meanwhile leaves the attempt in the history and the delivery as it is. Rows are locked in the order webhooks, claims,
-- deliveries, and each by their keys, as by everybody who locks several. Returns the webhooks that have failed for longer
-- than they may.
CREATE FUNCTION complete_deliveries(by_claimant uuid, hooks uuid[], ids uuid[], started timestamptz[], durations integer[],
  statuses integer[], errors text[], headers text[], bodies text[], manuals boolean[], replays integer[],
  delays double precision[], failing_for interval)
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  WITH seen AS (
    SELECT r.webhook, bool_or(r.error IS NULL) AS succeeded, count(*) AS attempts
    FROM unnest(hooks, errors) AS r(webhook, error)
    GROUP BY r.webhook
  ), changing AS (
    SELECT w.id, seen.* FROM webhooks w JOIN seen ON seen.webhook = w.id
    WHERE CASE WHEN seen.succeeded THEN w.failures > 0 ELSE w.failures < 10 END
    ORDER BY w.id FOR NO KEY UPDATE OF w
  )
  UPDATE webhooks w SET
    failing_since = CASE WHEN c.succeeded THEN NULL ELSE coalesce(w.failing_since, clock_timestamp()) END,
    failures = CASE WHEN c.succeeded THEN 0 ELSE least(w.failures + c.attempts, 10) END
  FROM changing c WHERE w.id = c.id;

  WITH own AS (
    SELECT c.webhook, c.delivery FROM webhook_claims c
    JOIN unnest(hooks, ids) AS r(webhook, id) ON c.webhook = r.webhook AND c.delivery = r.id
    WHERE c.claimant = by_claimant ORDER BY c.webhook, c.delivery FOR UPDATE OF c
  ), ended AS (
    DELETE FROM webhook_claims c USING own WHERE c.webhook = own.webhook AND c.delivery = own.delivery
  ), locked AS (
    SELECT d.* FROM webhook_deliveries d JOIN own ON own.delivery = d.id ORDER BY d.id FOR NO KEY UPDATE OF d
  ), after AS (
    SELECT o.id, o.replays <> r.replays AS begun_anew,
      greatest(o.manual - CASE WHEN r.manual THEN 1 ELSE 0 END, 0) AS manual,
      -- A manual retry leaves the schedule as it is, unless it brings success.
      CASE WHEN o.replays <> r.replays THEN o.scheduled_at WHEN r.error IS NULL THEN NULL WHEN r.manual THEN o.scheduled_at
        ELSE clock_timestamp() + make_interval(secs => r.delay) END AS scheduled_at,
      -- What has been delivered once is delivered, whatever comes of sending it again.
      r.error IS NULL OR r.manual AND EXISTS
        (SELECT FROM webhook_attempts a WHERE a.delivery = o.id AND a.error IS NULL) AS succeeded,
      CASE WHEN r.manual THEN 0 ELSE 1 END AS tries
    FROM unnest(ids, errors, manuals, replays, delays) AS r(id, error, manual, replays, delay)
    JOIN locked o ON o.id = r.id
    WHERE o.status <> 'cancelled'
  )
  UPDATE webhook_deliveries d SET
    manual = a.manual,
    tries = d.tries + CASE WHEN a.begun_anew THEN 0 ELSE a.tries END,
    scheduled_at = a.scheduled_at,
    next_attempt_at = CASE WHEN a.manual > 0 THEN '-infinity' ELSE a.scheduled_at END,
    status = CASE WHEN a.manual > 0 OR a.scheduled_at IS NOT NULL THEN 'pending'
      WHEN a.succeeded THEN 'delivered' ELSE 'failed' END,
    completed_at = CASE WHEN a.manual > 0 OR a.scheduled_at IS NOT NULL THEN NULL ELSE clock_timestamp() END
  FROM after a
  WHERE d.id = a.id;

  INSERT INTO webhook_attempts (delivery, at, duration_ms, status, error, response_headers, response_body)
  SELECT * FROM unnest(ids, started, durations, statuses, errors, headers, bodies) AS r(id, at) ORDER BY r.at;

  RETURN QUERY
  SELECT w.id FROM webhooks w
  WHERE w.id = ANY (hooks) AND w.enabled AND w.deleted_at IS NULL
    AND w.failing_since <= clock_timestamp() - failing_for;
END
$$;

-- Forgets up to so many deliveries that have ended so long ago, with all that is theirs; returns how many.
CREATE FUNCTION forget_deliveries(ended_for interval, at_most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone uuid[];
  events uuid[];
BEGIN
  WITH old AS (
    SELECT id FROM webhook_deliveries WHERE completed_at < now() - ended_for
    ORDER BY completed_at LIMIT at_most FOR UPDATE SKIP LOCKED
  ), deleted AS (
    DELETE FROM webhook_deliveries d USING old WHERE d.id = old.id RETURNING d.id, d.event
  )
  SELECT coalesce(array_agg(d.id), '{}'), coalesce(array_agg(DISTINCT d.event), '{}') INTO gone, events FROM deleted d;
  DELETE FROM webhook_attempts WHERE delivery = ANY (gone);
  DELETE FROM webhook_messages m WHERE m.event = ANY (events)
    AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event = m.event);
  IF cardinality(gone) < at_most THEN
    DELETE FROM webhooks w WHERE w.deleted_at < now() - ended_for
      AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook = w.id);
    DELETE FROM webhook_claims WHERE until < now() - interval '1 minute';
    DELETE FROM webhook_sends WHERE at < now() - interval '1 hour';
  END IF;
  RETURN cardinality(gone);
END
$$;
