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
  -- Of the first attempt that failed since one succeeded.
  failing_since   timestamptz,
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

-- One event on its way to one webhook. `body` is what is sent, byte for byte, at every attempt.
CREATE TABLE webhook_deliveries (
  id              uuid        PRIMARY KEY,
  webhook         uuid        NOT NULL,
  tenant          text        NOT NULL,
  event           uuid        NOT NULL,
  position        bigint,
  type            text        NOT NULL,
  body            text        NOT NULL,
  status          text        NOT NULL DEFAULT 'pending',
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the schedule wants it, and when it is really due: a manual retry goes first.
  scheduled_at    timestamptz DEFAULT clock_timestamp(),
  next_attempt_at timestamptz DEFAULT clock_timestamp(),
  tries           integer     NOT NULL DEFAULT 0,
  manual          integer     NOT NULL DEFAULT 0,
  claimant        uuid,
  claimed_until   timestamptz,
  completed_at    timestamptz,
  UNIQUE (webhook, event)
) WITH (fillfactor = 70);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, position)
  WHERE status = 'pending' AND position IS NOT NULL;
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (webhook, claimed_until) WHERE claimed_until IS NOT NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook, id);
CREATE INDEX webhook_deliveries_completed ON webhook_deliveries (completed_at) WHERE completed_at IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery         uuid        NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
  number           bigint      GENERATED ALWAYS AS IDENTITY,
  webhook          uuid        NOT NULL,
  at               timestamptz NOT NULL,
  duration_ms      integer     NOT NULL,
  status           integer,
  error            text,
  response_headers text,
  response_body    text,
  PRIMARY KEY (delivery, number)
);
CREATE INDEX webhook_attempts_of_webhook ON webhook_attempts (webhook, at);

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

-- One delivery of each event to each webhook that wants it. The webhooks are locked against being changed meanwhile, so that
-- a deleted one is left without. Returns how many there are that were not there before.
CREATE FUNCTION fan_out(ids uuid[], tenants text[], positions bigint[], types text[], bodies text[])
RETURNS bigint LANGUAGE sql AS $$
  WITH takers AS (
    SELECT w.id AS webhook, e.*
    FROM unnest(ids, tenants, positions, types, bodies) AS e(id, tenant, position, type, body)
    JOIN webhooks w ON w.tenant = e.tenant AND w.deleted_at IS NULL AND w.enabled AND e.type = ANY (w.events)
      AND (e.position IS NULL OR e.position > w.active_after)
    ORDER BY e.position, w.id
    FOR SHARE OF w
  ), made AS (
    INSERT INTO webhook_deliveries (id, webhook, tenant, event, position, type, body)
    SELECT new_uuid7(), webhook, tenant, id, position, type, body FROM takers
    ON CONFLICT (webhook, event) DO NOTHING
    RETURNING 1
  )
  SELECT count(*) FROM made
$$;

-- Claims deliveries that are due, for as long as the lease: no more of a webhook than it may have in flight or may be sent in
-- its time, one after the other in commit order where it wants that. Claims take turns, so that what one counts the next
-- one sees.
CREATE FUNCTION claim_deliveries(by_claimant uuid, lease interval, at_most bigint)
RETURNS TABLE (id uuid, webhook uuid, type text, body text, tries integer, is_manual boolean, url text, headers text,
  secrets bytea[], ed25519 bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  present timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7301, 3);
  present := clock_timestamp();
  -- In order is only what nothing can come before any more.
  UPDATE webhooks w SET complete_to = found.complete_to
  FROM (
    SELECT o.id, coalesce(
      (SELECT e.position - 1 FROM events e
       WHERE e.tenant = o.tenant AND e.position > o.complete_to AND e.type = ANY (o.events)
         AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook = o.id AND d.event = e.id)
       ORDER BY e.position LIMIT 1),
      (SELECT max(e.position) FROM events e),
      0) AS complete_to
    FROM webhooks o
    WHERE o.ordered AND o.enabled AND o.deleted_at IS NULL
      AND EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook = o.id AND d.status = 'pending')
  ) found
  WHERE w.id = found.id AND w.complete_to < found.complete_to;

  RETURN QUERY
  WITH RECURSIVE waiting AS (
    (SELECT d.webhook FROM webhook_deliveries d WHERE d.status = 'pending' ORDER BY d.webhook LIMIT 1)
    UNION ALL
    SELECT (SELECT d.webhook FROM webhook_deliveries d WHERE d.status = 'pending' AND d.webhook > waiting.webhook
      ORDER BY d.webhook LIMIT 1)
    FROM waiting WHERE waiting.webhook IS NOT NULL
  ), open AS (
    SELECT w.id, w.ordered, w.complete_to,
      least(
        CASE WHEN w.ordered THEN 1 ELSE w.max_concurrency END,
        w.rate_limit - (SELECT count(*) FROM webhook_attempts a
          WHERE a.webhook = w.id AND a.at > present - make_interval(secs => w.rate_seconds))
      ) - (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook = w.id AND d.claimed_until > present) AS room
    FROM waiting JOIN webhooks w ON w.id = waiting.webhook
    WHERE w.enabled AND w.deleted_at IS NULL
    ORDER BY random()
  ), chosen AS (
    SELECT due.id FROM open CROSS JOIN LATERAL (
      SELECT d.id FROM webhook_deliveries d
      WHERE d.webhook = open.id AND d.status = 'pending' AND d.next_attempt_at <= present
        AND (d.claimed_until IS NULL OR d.claimed_until <= present)
        AND (NOT open.ordered OR d.position IS NULL OR d.manual > 0 OR d.position <= open.complete_to AND d.position =
          (SELECT min(f.position) FROM webhook_deliveries f
           WHERE f.webhook = open.id AND f.status = 'pending' AND f.position IS NOT NULL))
      ORDER BY d.next_attempt_at, d.position
      LIMIT greatest(open.room, 0)
      FOR UPDATE SKIP LOCKED
    ) due
    LIMIT at_most
  )
  UPDATE webhook_deliveries d SET claimant = by_claimant, claimed_until = present + lease
  FROM chosen, webhooks w
  WHERE d.id = chosen.id AND w.id = d.webhook
  RETURNING d.id, d.webhook, d.type, d.body, d.tries, d.manual > 0, w.url, w.headers,
    (SELECT array_agg(s.sealed ORDER BY s.number DESC) FROM webhook_secrets s
     WHERE s.webhook = w.id AND (s.until IS NULL OR s.until > present)),
    w.ed25519;
END
$$;

-- Records attempts and what follows from them: `next_at` is null where the schedule has come to its end. A claim that was
-- lost meanwhile leaves the attempt in the history and the delivery as it is. Returns the webhooks that have failed for
-- longer than they may.
CREATE FUNCTION complete_deliveries(by_claimant uuid, ids uuid[], started timestamptz[], durations integer[],
  statuses integer[], errors text[], headers text[], bodies text[], manuals boolean[], next_at timestamptz[],
  failing_for interval)
RETURNS SETOF uuid LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_attempts (delivery, webhook, at, duration_ms, status, error, response_headers, response_body)
  SELECT d.id, d.webhook, r.at, r.duration, r.status, r.error, r.headers, r.body
  FROM unnest(ids, started, durations, statuses, errors, headers, bodies)
    AS r(id, at, duration, status, error, headers, body)
  JOIN webhook_deliveries d ON d.id = r.id
  ORDER BY r.at;

  UPDATE webhook_deliveries d SET
    claimant = NULL,
    claimed_until = NULL,
    manual = after.manual,
    tries = d.tries + CASE WHEN r.manual THEN 0 ELSE 1 END,
    scheduled_at = after.scheduled_at,
    next_attempt_at = CASE WHEN d.status = 'cancelled' THEN NULL
      WHEN after.manual > 0 THEN clock_timestamp() ELSE after.scheduled_at END,
    status = CASE WHEN d.status = 'cancelled' THEN 'cancelled'
      WHEN after.manual > 0 OR after.scheduled_at IS NOT NULL THEN 'pending'
      WHEN r.error IS NULL THEN 'delivered' ELSE 'failed' END,
    completed_at = CASE WHEN d.status = 'cancelled' THEN d.completed_at
      WHEN after.manual > 0 OR after.scheduled_at IS NOT NULL THEN NULL ELSE clock_timestamp() END
  FROM unnest(ids, errors, manuals, next_at) AS r(id, error, manual, next_at)
    JOIN webhook_deliveries o ON o.id = r.id,
    LATERAL (SELECT
      greatest(o.manual - CASE WHEN r.manual THEN 1 ELSE 0 END, 0) AS manual,
      CASE WHEN r.error IS NULL THEN NULL WHEN r.manual THEN o.scheduled_at ELSE r.next_at END AS scheduled_at) after
  WHERE d.id = r.id AND d.claimant = by_claimant;

  UPDATE webhooks w SET failing_since = CASE WHEN seen.succeeded THEN NULL ELSE coalesce(w.failing_since, seen.since) END
  FROM (
    SELECT d.webhook, bool_or(r.error IS NULL) AS succeeded, min(r.at) AS since
    FROM unnest(ids, errors, started) AS r(id, error, at) JOIN webhook_deliveries d ON d.id = r.id
    GROUP BY d.webhook
  ) seen
  WHERE w.id = seen.webhook AND seen.succeeded = (w.failing_since IS NOT NULL);

  RETURN QUERY
  SELECT w.id FROM webhooks w
  WHERE w.enabled AND w.deleted_at IS NULL AND w.failing_since <= clock_timestamp() - failing_for
    AND w.id IN (SELECT d.webhook FROM webhook_deliveries d WHERE d.id = ANY (ids));
END
$$;
